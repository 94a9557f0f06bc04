import SystemCalls
import SystemPackage
import TextFormats

/// A command line for a shell, with paths quoted so that each stays one word of the same bytes.
public struct ShellCommand: Sendable, Hashable {
    /// The command line, without a newline and without characters that could drive a terminal.
    public private(set) var bytes: [UInt8]
    /// What else has to be known to use it, in sentences.
    public var advice: [String] = []

    /// Begins with text that the shell reads as it is.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// Adds a space, and text that the shell reads as it is.
    public mutating func add(_ text: String) { bytes += Array(" \(text)".utf8) }

    /// Adds a space, an option and directly behind it a path.
    public mutating func add(_ option: String = "", path: FilePath) {
        add(option + ShellWord.quoted(path.bytes))
    }
}
