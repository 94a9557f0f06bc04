import SystemPackage

/// The result of checking a repository.
package struct RepositoryCheck: Sendable, Hashable {
    /// The problems found, in the engine's words, one line each; empty when there are none.
    package var problems: [String] = []
    /// The items of snapshots that cannot be read completely, as far as they are known.
    package var lost: [LostItem] = []
    /// Whether ``BackupEngine/repair(_:)`` can repair some of it.
    package var isRepairable = false
    /// The steps to repair it, in order; empty when nothing is wrong, or nothing can be done.
    package var repair: [RepairStep] = []
    /// The engine's names of its damaged files that can be repaired.
    package var damagedFiles: [String] = []
    /// The snapshots whose own files are damaged, by the first digits of their identifiers.
    package var damagedSnapshots: [String] = []

    package init() {}
}

/// An item that has lost data in some snapshots.
package struct LostItem: Sendable, Hashable {
    /// Its path.
    package var path: [UInt8]
    /// Whether every byte of the path is known; otherwise U+FFFD represents the unknown ones.
    package var isExact = true
    /// Whether it is a directory; if so, everything below it is lost too.
    package let isDirectory: Bool
    /// The snapshots concerned, oldest first.
    package let snapshots: [Snapshot]

    package init(path: [UInt8], isDirectory: Bool, snapshots: [Snapshot]) {
        self.path = path
        self.isDirectory = isDirectory
        self.snapshots = snapshots
    }
}

/// A step in repairing a repository.
package struct RepairStep: Sendable, Hashable {
    /// What the step does, in words.
    package let purpose: String
    /// The command to run, word by word; it needs the same environment as the command that found
    /// the damage. Empty when there is no command for the step.
    package let command: [[UInt8]]
    /// Whether it is a command of this program; if so, the words do not include the program, the
    /// repository and the source of its password.
    package let isOwn: Bool

    package init(purpose: String, command: [[UInt8]], isOwn: Bool = false) {
        self.purpose = purpose
        self.command = command
        self.isOwn = isOwn
    }

    /// Returns the step that sets damaged snapshots aside; empty when there are none.
    static func settingAside(_ snapshots: [String]) -> [RepairStep] {
        guard !snapshots.isEmpty else { return [] }
        return [
            RepairStep(
                purpose: "move the damaged snapshots out of the way of the others",
                command: words("verify", "--repair"), isOwn: true)
        ]
    }
}

/// An action taken to repair a repository.
package struct RepairAction: Sendable, Hashable {
    /// What was done, in words.
    package let sentence: String
    /// The file concerned; nil when there is none.
    package let path: FilePath?

    package init(_ sentence: String, path: FilePath? = nil) {
        self.sentence = sentence
        self.path = path
    }
}
