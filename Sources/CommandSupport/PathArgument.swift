import ArgumentParser
import SystemCalls
import SystemPackage

/// A path given on the command line: any bytes except NUL.
public struct PathArgument: ExpressibleByArgument, Sendable, Hashable {
    /// The path's bytes, exactly as they were given.
    public let bytes: [UInt8]

    /// Creates a path from its bytes.
    public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// Creates a path from an argument in the form of ``ArgumentBytes/processArguments()``.
    public init?(argument: String) { bytes = ArgumentBytes.bytes(of: argument) }

    /// The path for system calls. It names the same file, without doubled or trailing slashes.
    public var path: FilePath { FilePath(bytes: bytes) }

    /// Whether the argument is `-`, which means standard input or output.
    public var isDash: Bool { bytes == [UInt8(ascii: "-")] }

    /// The completion of file names in shells.
    public static var defaultCompletionKind: CompletionKind { .file() }
}
