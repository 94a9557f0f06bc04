import EffectiveValues
import SystemCalls

/// A directory that was given another name to be deleted, as the purger's journal has it.
struct AsideRecord: Sendable, Hashable {
    /// How far it came.
    enum State: UInt64, Sendable {
        /// Put aside, or about to be: it gets its name back.
        case aside = 1
        /// Looked at again and fit to go: it is deleted.
        case deleting = 2
    }

    var state: State
    /// The directory itself.
    let identity: PersistentIdentity
    /// The directory that holds it.
    let parent: PersistentIdentity
    let parentPath: [UInt8]
    /// The name it had.
    let name: [UInt8]
    /// The name it was given.
    let asideName: [UInt8]
    /// When any inode below it was changed last: what is newer was put there since.
    let newestChange: FileTime
    /// The inodes whose times a removal changes before they go, once it is deleted: of the directories it
    /// consists of, itself included, and of its files with several names. nil before, and when they are too
    /// many for the journal.
    var knownInodes: Set<UInt64>?

    /// The path it had.
    var path: [UInt8] { parentPath + [UInt8(ascii: "/")] + name }

    /// The path it was given.
    var asidePath: [UInt8] { parentPath + [UInt8(ascii: "/")] + asideName }
}

/// The names of what is put aside.
enum AsideName {
    static let prefix = Array(".resval-purge-".utf8)

    /// A name that nobody has guessed.
    static func make() -> [UInt8] {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        return prefix + Array((String(repeating: "0", count: 16 - number.count) + number).utf8)
    }

    static func matches(_ name: some Collection<UInt8>) -> Bool { name.starts(with: prefix) }
}
