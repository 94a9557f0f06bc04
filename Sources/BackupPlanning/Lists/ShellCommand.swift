import SystemCalls
import SystemPackage
import TextFormats

/// A shell command line, with paths quoted so that each remains one word of the same bytes.
public struct ShellCommand: Sendable, Hashable {
    /// The command line, without a newline and without characters that could drive a terminal.
    public private(set) var bytes: [UInt8]
    /// What else the user must know to run it, in sentences.
    public var advice: [String] = []

    /// Creates a command line from text that the shell reads as it is.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// Appends a space, and text that the shell reads as it is.
    public mutating func add(_ text: String) { bytes += Array(" \(text)".utf8) }

    /// Appends a space, an option and, directly after it, a path.
    public mutating func add(_ option: String = "", path: FilePath) {
        add(option + ShellWord.quoted(path.bytes))
    }
}
