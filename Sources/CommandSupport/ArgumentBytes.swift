import ArgumentParser
import Glibc
import SystemCalls
import SystemPackage

/// Encodes the bytes of arguments in `String`, which can only contain valid UTF-8.
///
/// A byte of invalid UTF-8 is represented by one character from U+F700 to U+F7FF, and so is each
/// byte of a character that is itself in this range, and a newline, which would otherwise begin a line
/// of the parser's messages. Every other character represents itself, so any sequence of bytes can be
/// restored exactly.
package enum ArgumentBytes {
    private static let base: UInt32 = 0xF700
    private static let range: ClosedRange<UInt32> = 0xF700...0xF7FF

    /// Returns the arguments of this process, without the program's name, in the form for
    /// ``bytes(of:)``.
    ///
    /// `CommandLine.arguments` repairs invalid UTF-8, and so loses the original name.
    package static func processArguments() -> [String] {
        let arguments = ProcessArguments.current
        guard arguments.count > 1 else { return [] }
        return (1..<arguments.count).compactMap { index in
            arguments.pointers[index].map { argument in
                text(carrying: UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
            }
        }
    }

    package static func text(carrying bytes: some Collection<UInt8>) -> String {
        if bytes.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\n") }) {
            return String(decoding: bytes, as: UTF8.self)
        }
        var text = String.UnicodeScalarView()
        var rest = bytes[...]
        while !rest.isEmpty {
            let (scalar, width) = firstScalar(of: rest)
            if let scalar, !range.contains(scalar.value), scalar != "\n" {
                text.append(scalar)
            } else {
                for byte in rest.prefix(width) { text.append(character(for: byte)) }
            }
            rest = rest.dropFirst(width)
        }
        return String(text)
    }

    package static func bytes(of text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            if range.contains(scalar.value) {
                bytes.append(UInt8(scalar.value - base))
            } else {
                bytes.append(contentsOf: UTF8.encode(scalar).unsafelyUnwrapped)
            }
        }
        return bytes
    }

    private static func character(for byte: UInt8) -> Unicode.Scalar {
        // U+F700 to U+F7FF are valid scalars, so there always is one.
        Unicode.Scalar(base + UInt32(byte)).unsafelyUnwrapped
    }
}

/// A path given on the command line: any bytes except NUL.
package struct PathArgument: ExpressibleByArgument, Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// Creates a path from an argument in the form of ``ArgumentBytes/processArguments()``; nil for
    /// a run of them.
    package init?(argument: String) {
        bytes = ArgumentBytes.bytes(of: argument)
        if bytes.contains(0) { return nil }
    }

    /// The path for system calls. It names the same file, without doubled or trailing slashes.
    package var path: FilePath { FilePath(bytes: bytes) }

    /// Whether the argument is `-`, which means standard input or output.
    package var isDash: Bool { bytes == [UInt8(ascii: "-")] }

    package var defaultValueDescription: String { NameEscaping.text(bytes) }

    package static var defaultCompletionKind: CompletionKind { .file() }
}

/// The arguments of this process, in memory that lasts as long as it.
struct ProcessArguments: @unchecked Sendable {
    /// `CommandLine` reads them from `/proc`, and has none where it is not mounted.
    static let current = ProcessArguments()

    /// The number of arguments, with the program's name.
    let count: Int
    /// The arguments, followed by NULL.
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    private init() {
        (count, pointers) = startArguments ?? (Int(CommandLine.argc), CommandLine.unsafeArgv)
    }

    /// The directory in which the program was executed by a path; nil when it was found by its name.
    var directory: FilePath? {
        guard let program = pointers[0], strchr(program, CInt(UInt8(ascii: "/"))) != nil else {
            return nil
        }
        return FilePath(platformString: program).removingLastComponent()
    }
}

/// What the initializer below was called with.
private nonisolated(unsafe) var startArguments:
    (count: Int, pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>)?

/// An initializer that glibc calls, with the arguments of `main`, before those of Swift's runtime.
///
/// The runtime of a static program looks for its directory by `/proc/self/exe` then, and ends the process
/// where that cannot be read. A directory in the environment spares it the search.
@section(".init_array.00101")
@used
private let prepareProcess:
    @convention(c) (CInt, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Void = {
        count, pointers in
        startArguments = (Int(count), pointers)
        if access("/proc/self/exe", F_OK) != 0 { setenv("SWIFT_ROOT", "/", 0) }
    }
