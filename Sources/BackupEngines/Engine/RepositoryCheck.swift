import SystemPackage

/// What checking a repository found.
package struct RepositoryCheck: Sendable, Hashable {
    /// What is wrong, in the engine's words, a line each; empty for nothing.
    package var problems: [String] = []
    /// The items of snapshots that cannot be read whole, as far as they are known.
    package var lost: [LostItem] = []
    /// Whether ``BackupEngine/repair(_:)`` can do something about it.
    package var isRepairable = false
    /// How to heal it, in order; empty when nothing is wrong, or nothing can be done.
    package var repair: [RepairStep] = []
    /// The engine's names of its files that are damaged and can be repaired.
    package var damagedFiles: [String] = []
    /// The snapshots whose own files are damaged, by the first digits of their identifiers.
    package var damagedSnapshots: [String] = []

    package init() {}
}

/// An item of which snapshots have lost something.
package struct LostItem: Sendable, Hashable {
    /// Its path.
    package var path: [UInt8]
    /// Whether the engine could tell all bytes of the path; else U+FFFD stands for those it could not.
    package var isExact = true
    /// Whether it is a directory: all below it is lost, too.
    package let isDirectory: Bool
    /// The snapshots concerned, the oldest first.
    package let snapshots: [Snapshot]

    package init(path: [UInt8], isDirectory: Bool, snapshots: [Snapshot]) {
        self.path = path
        self.isDirectory = isDirectory
        self.snapshots = snapshots
    }
}

/// A step of healing a repository.
package struct RepairStep: Sendable, Hashable {
    /// What the step does, in words.
    package let purpose: String
    /// The command to run, word by word; it needs the same environment as the command that found
    /// the damage. Empty where no command does it.
    package let command: [[UInt8]]
    /// Whether it is a command of this program: the program, the repository and what opens it are then
    /// not among the words.
    package let isOwn: Bool

    package init(purpose: String, command: [[UInt8]], isOwn: Bool = false) {
        self.purpose = purpose
        self.command = command
        self.isOwn = isOwn
    }

    /// The step that has damaged snapshots set aside; none where there are none.
    static func settingAside(_ snapshots: [String]) -> [RepairStep] {
        guard !snapshots.isEmpty else { return [] }
        return [
            RepairStep(
                purpose: "move the damaged snapshots out of the way of the others",
                command: words("verify", "--repair"), isOwn: true)
        ]
    }
}

/// What was done to heal a repository.
package struct RepairAction: Sendable, Hashable {
    /// What was done, in words.
    package let sentence: String
    /// The file it is about; nil where there is none.
    package let path: FilePath?

    package init(_ sentence: String, path: FilePath? = nil) {
        self.sentence = sentence
        self.path = path
    }
}
