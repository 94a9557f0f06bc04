import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// The input of one backup tool: a list of what to store, and the command that uses it.
///
/// To add a format, conform one type to this protocol and name it in ``ListFormats``.
public protocol ListFormat: Sendable {
    /// The tool's name, which selects the format in options.
    var name: String { get }
    /// Whether anyone who has the tool's output can read it.
    var storesPlaintext: Bool { get }
    /// Whether the list names every stored item; otherwise it names what is excluded.
    var listsStoredItems: Bool { get }
    /// The longest path, in bytes, that the tool can open; nil when it has no limit.
    var longestPath: Int? { get }

    /// Returns why the tool cannot be made to store an item, in words; nil when it can.
    ///
    /// - Parameters:
    ///   - path: the absolute path's bytes.
    ///   - kind: the kind of file.
    func obstacle(toStoring path: [UInt8], kind: FileKind) -> String?

    /// Returns the list of a plan.
    ///
    /// - Throws: `FileError` when the list depends on the disk and that cannot be read.
    func list(of plan: BackupPlan) throws -> BackupList

    /// Returns the command that makes a backup from the list, with every option it needs.
    func command(for list: ListUse) -> ShellCommand
}

extension ListFormat {
    /// 4095: `PATH_MAX` less the terminating NUL.
    public var longestPath: Int? { 4095 }
    /// Always nil: the tool stores any item.
    public func obstacle(toStoring path: [UInt8], kind: FileKind) -> String? { nil }
}

/// The input of a tool: one list, and a second one for a tool that takes two.
public struct BackupList: Sendable {
    /// The contents of the first list.
    public enum Body: Sendable, Hashable {
        /// These bytes.
        case bytes([UInt8])
        /// The path of each stored item, preceded by these bytes and followed by a NUL.
        case storedPaths(prefix: [UInt8])
    }

    /// The contents of the first list.
    public var body: Body
    /// The second list: patterns of what is excluded; nil for a tool that takes one list.
    public var excludes: [UInt8]?
    /// The items that the tool will store although the plan excludes them.
    public var lostExclusions: [ListLoss] = []

    /// Creates a list.
    public init(_ body: Body, excludes: [UInt8]? = nil, lostExclusions: [ListLoss] = []) {
        self.body = body
        self.excludes = excludes
        self.lostExclusions = lostExclusions
    }
}

/// An item that the tool cannot represent.
public struct ListLoss: Sendable, Hashable {
    /// The absolute path.
    public let path: FilePath
    /// The reason, in words.
    public let reason: String

    /// Creates a loss.
    public init(path: FilePath, reason: String) {
        self.path = path
        self.reason = reason
    }
}

/// The paths of the lists that a command uses, and the sources they were made from.
public struct ListUse: Sendable {
    /// The path of the first list.
    public let list: FilePath
    /// The path of the second list, or nil.
    public let excludes: FilePath?
    /// The plan's SOURCEs.
    public let sources: [FilePath]

    /// Creates a value from its parts.
    public init(list: FilePath, excludes: FilePath?, sources: [FilePath]) {
        self.list = list
        self.excludes = excludes
        self.sources = sources
    }
}

/// The known formats.
public enum ListFormats {
    /// All formats.
    public static let all: [any ListFormat] = [
        ResticList(), BorgList(), TarList(), BsdtarList(), RsyncList(), RcloneList(),
        DuplicityList(), NulList(),
    ]

    /// Returns the format with this name; nil when it is unknown.
    public static func named(_ name: String) -> (any ListFormat)? {
        all.first { $0.name == name }
    }
}

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
