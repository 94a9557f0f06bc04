import ResourceValues
import SystemPackage

/// A snapshot in a repository.
package struct Snapshot: Sendable, Hashable {
    /// The identifier: hexadecimal digits.
    package let identifier: String
    /// The identifier the snapshot had when it was made, where the engine gives it another when its
    /// tags change; else the same.
    package let originalIdentifier: String
    /// When it was made.
    package let time: FileTime
    /// How far east of UTC the clock was that it was made by, in seconds.
    package let timeOffset: Int
    /// The name of the machine it was made on.
    package let hostName: String
    /// The name of the user who made it.
    package let userName: String
    /// All its tags, those of this program too.
    package let allTags: [String]
    /// What was backed up. For a snapshot of another program the paths it tells, where bytes that
    /// are not UTF-8 may be lost.
    package let sources: [FilePath]
    /// What the engine knows the snapshot's content by; empty where that is the identifier.
    package let root: String

    /// - Parameter paths: what the engine itself says was backed up; nil where the tags tell.
    package init(
        identifier: String, originalIdentifier: String? = nil, time: FileTime, timeOffset: Int = 0,
        hostName: String, userName: String, allTags: [String], paths: [FilePath] = [],
        root: String = ""
    ) {
        self.identifier = identifier
        self.originalIdentifier = originalIdentifier ?? identifier
        self.time = time
        self.timeOffset = timeOffset
        self.hostName = hostName
        self.userName = userName
        self.allTags = allTags
        self.root = root
        let tagged = SourceTags.sources(in: allTags)
        sources = tagged.isEmpty ? paths : tagged
    }

    /// The first digits of the identifier, enough for people.
    package var shortIdentifier: String { String(identifier.prefix(8)) }

    /// The tags users gave it.
    package var tags: [String] { allTags.filter { !SourceTags.isReserved($0) } }

    /// The tag for the set of SOURCEs; nil for a snapshot of another program.
    package var sourceSet: String? { SourceTags.set(in: allTags) }

    /// Whether it lacks something that the plan stores.
    package var isIncomplete: Bool { allTags.contains(StateTag.incomplete) }

    /// Whether it holds much less than its predecessor did, and nobody has said that this is right.
    package var hasShrunk: Bool {
        allTags.contains(StateTag.shrunk) && !allTags.contains(StateTag.accepted)
    }

    /// Whether nothing may ever remove it but its own command: it holds the only copy of something.
    package var isHeld: Bool { allTags.contains { $0.hasPrefix(StateTag.holdPrefix) } }

    /// Whether it comes before another: by time, and by identifier where that is the same.
    package func isOlder(than other: Snapshot) -> Bool {
        (time, identifier) < (other.time, other.identifier)
    }
}

/// Tags that say what became of a snapshot.
package enum StateTag {
    /// It lacks something that the plan stores.
    package static let incomplete = "resval-incomplete"
    /// It holds much less than its predecessor did.
    package static let shrunk = "resval-coverage=shrunk"
    /// Somebody said that it is right for it to hold less.
    package static let accepted = "resval-coverage=accepted"
    /// The beginning of the tags that keep a snapshot from being forgotten.
    package static let holdPrefix = "resval-hold"
}
