import SystemCalls
import SystemPackage

/// A command line for a shell, with paths quoted so that each stays one word of the same bytes.
public struct ShellCommand: Sendable, Hashable {
    /// The command line, without a newline; ASCII but for letters in paths.
    public private(set) var bytes: [UInt8]
    /// What else has to be known to use it, in sentences.
    public var advice: [String] = []

    /// Begins with text that the shell reads as it is.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// Adds a space, and text that the shell reads as it is.
    public mutating func add(_ text: String) { bytes += [space] + Array(text.utf8) }

    /// Adds a space, an option and directly behind it a path.
    public mutating func add(_ option: String = "", path: FilePath) {
        bytes += [space] + Array(option.utf8) + quoted(path.bytes)
    }

    /// A path as one word. Control characters and bytes that are not UTF-8 need `$'…'`, which bash,
    /// zsh and ksh understand; any other path is quoted for every shell.
    private func quoted(_ path: [UInt8]) -> [UInt8] {
        if path.allSatisfy(isOrdinary) { return path }
        if let text = String(validating: path, as: UTF8.self),
            text.unicodeScalars.allSatisfy(isClear)
        {
            return Array("'\(text.replacing("'", with: #"'\''"#))'".utf8)
        }
        return Array("$'".utf8) + path.flatMap(escaped) + Array("'".utf8)
    }

    private func isOrdinary(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/._-+:,@%".utf8.contains(byte)
        }
    }

    private func isClear(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII ? (0x20..<0x7F).contains(scalar.value) : scalar.properties.isAlphabetic
    }

    private func escaped(_ byte: UInt8) -> [UInt8] {
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
        case 0x20..<0x7F: [byte]
        default: Array("\\".utf8) + [byte >> 6, byte >> 3 & 7, byte & 7].map { $0 + 0x30 }
        }
    }

    private var space: UInt8 { UInt8(ascii: " ") }
}
