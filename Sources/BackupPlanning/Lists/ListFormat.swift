import ResourceValues
import SystemPackage

/// How one backup tool is told what to store: what its list holds, and the command that uses it.
///
/// A format of its own is one type that conforms to this, named in ``ListFormats``.
public protocol ListFormat: Sendable {
    /// What the format is called in options: the tool's name.
    var name: String { get }
    /// Whether anybody who has what the tool writes can read it.
    var storesPlaintext: Bool { get }
    /// Whether the list names every item that is stored; else it names what is left out.
    var listsStoredItems: Bool { get }
    /// The longest path, in bytes, that the tool can open; nil where it has no limit.
    var longestPath: Int? { get }

    /// Why the tool cannot be made to store an item, in words; nil when it can.
    ///
    /// - Parameters:
    ///   - path: the absolute path's bytes.
    ///   - kind: the kind of file.
    func obstacle(toStoring path: [UInt8], kind: FileKind) -> String?

    /// The list of a plan.
    ///
    /// - Throws: `FileError` when the disk has to be looked at for it and cannot.
    func list(of plan: BackupPlan) throws -> BackupList

    /// The command that makes a backup by the list, with every option that this takes.
    func command(for list: ListUse) -> ShellCommand
}

extension ListFormat {
    /// 4095: `PATH_MAX` less the NUL.
    public var longestPath: Int? { 4095 }
    /// nil: the tool stores any item.
    public func obstacle(toStoring path: [UInt8], kind: FileKind) -> String? { nil }
}

/// What is handed to a tool: one list, and a second one for a tool that takes two.
public struct BackupList: Sendable {
    /// What the first list holds.
    public enum Body: Sendable, Hashable {
        /// These bytes.
        case bytes([UInt8])
        /// The path of each stored item with these bytes before it and a NUL behind it.
        case storedPaths(prefix: [UInt8])
    }

    /// What the first list holds.
    public var body: Body
    /// The second list: patterns of what is left out; nil for a tool that takes one list.
    public var excludes: [UInt8]?
    /// What the tool will store although the plan leaves it out.
    public var lostExclusions: [ListLoss] = []

    /// Creates a list.
    public init(_ body: Body, excludes: [UInt8]? = nil, lostExclusions: [ListLoss] = []) {
        self.body = body
        self.excludes = excludes
        self.lostExclusions = lostExclusions
    }
}

/// An item that a tool cannot be told of.
public struct ListLoss: Sendable, Hashable {
    /// The absolute path.
    public let path: FilePath
    /// Why, in words.
    public let reason: String

    /// Creates a loss.
    public init(path: FilePath, reason: String) {
        self.path = path
        self.reason = reason
    }
}

/// Where the lists are that a command uses, and what they are of.
public struct ListUse: Sendable {
    /// The path of the first list.
    public let list: FilePath
    /// The path of the second list; nil when there is none.
    public let excludes: FilePath?
    /// The plan's SOURCEs.
    public let sources: [FilePath]

    /// Creates it from its parts.
    public init(list: FilePath, excludes: FilePath?, sources: [FilePath]) {
        self.list = list
        self.excludes = excludes
        self.sources = sources
    }
}

/// The formats there are.
public enum ListFormats {
    /// All formats.
    public static let all: [any ListFormat] = [
        ResticList(), BorgList(), TarList(), BsdtarList(), RsyncList(), RcloneList(),
        DuplicityList(), NulList(),
    ]

    /// The format of this name; nil when there is none.
    public static func named(_ name: String) -> (any ListFormat)? {
        all.first { $0.name == name }
    }
}
