import ArgumentParser
import SystemCalls
import SystemPackage

/// A path given on the command line: any bytes except NUL.
package struct PathArgument: ExpressibleByArgument, Sendable, Hashable {
    /// The path's bytes, exactly as they were given.
    package let bytes: [UInt8]

    /// Creates a path from its bytes.
    package init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// Creates a path from an argument in the form of ``ArgumentBytes/processArguments()``.
    package init?(argument: String) { bytes = ArgumentBytes.bytes(of: argument) }

    /// The path for system calls. It names the same file, without doubled or trailing slashes.
    package var path: FilePath { FilePath(bytes: bytes) }

    /// Whether the argument is `-`, which means standard input or output.
    package var isDash: Bool { bytes == [UInt8(ascii: "-")] }

    /// The completion of file names in shells.
    package static var defaultCompletionKind: CompletionKind { .file() }
}
