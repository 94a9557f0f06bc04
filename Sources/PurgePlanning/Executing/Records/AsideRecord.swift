import EffectiveValues
import SystemCalls

/// The journal's record of a directory that was moved aside to be deleted.
struct AsideRecord: Sendable, Hashable {
    /// How far the removal got.
    enum State: UInt64, Sendable {
        /// The directory was moved aside, or is about to be. After a crash it gets its name back.
        case aside = 1
        /// The directory was examined again and may be deleted. After a crash its removal is
        /// finished.
        case deleting = 2
    }

    var state: State
    /// The identity of the directory.
    let identity: PersistentIdentity
    /// The identity of its parent directory.
    let parent: PersistentIdentity
    let parentPath: [UInt8]
    /// The original name.
    let name: [UInt8]
    /// The name it was moved to.
    let asideName: [UInt8]
    /// The latest inode change time below the directory: anything newer was added or changed since.
    let newestChange: FileTime
    /// The inodes whose times the removal changes before it removes them: those of the directories,
    /// the top one included, and of files with several hard links. nil in state `aside`, and when
    /// there are too many for the journal.
    var knownInodes: Set<UInt64>?

    /// The original path.
    var path: [UInt8] { parentPath + [UInt8(ascii: "/")] + name }

    /// The path it was moved to.
    var asidePath: [UInt8] { parentPath + [UInt8(ascii: "/")] + asideName }
}

/// The names of directories that are moved aside.
enum AsideName {
    static let prefix = Array(".resval-purge-".utf8)

    /// Returns a name that cannot be predicted.
    static func make() -> [UInt8] {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        return prefix + Array((String(repeating: "0", count: 16 - number.count) + number).utf8)
    }

    static func matches(_ name: some Collection<UInt8>) -> Bool { name.starts(with: prefix) }
}
