import ArgumentParser
import SystemCalls
import SystemPackage

/// A path given on the command line: any bytes but NUL.
public struct PathArgument: ExpressibleByArgument, Sendable, Hashable {
    /// The path's bytes, exactly as they were given.
    public let bytes: [UInt8]

    /// Creates a path from its bytes.
    public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// Creates a path from an argument of ``ArgumentBytes/processArguments()``.
    public init?(argument: String) { bytes = ArgumentBytes.bytes(of: argument) }

    /// The path for calls. It names the same file, without doubled or trailing slashes.
    public var path: FilePath { FilePath(bytes: bytes) }

    /// Whether the argument is `-`, which stands for standard input or output.
    public var isDash: Bool { bytes == [UInt8(ascii: "-")] }

    /// Shells complete the names of files.
    public static var defaultCompletionKind: CompletionKind { .file() }
}
