import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// The tags that identify a snapshot as made by this program, and from which SOURCEs.
///
/// restic stores a snapshot's paths too, but they are the list of a cover when many items are
/// excluded, and restic alters what is not UTF-8. Tags are ASCII, with every other byte and every
/// comma as `%XX`.
package struct SourceTags: Sendable, Hashable {
    /// The tag for the set of SOURCEs: equal for equal sets, whatever their order.
    package let set: String
    /// The part of the tag that distinguishes the set from others, in ASCII.
    package let fingerprint: String
    /// One tag for each SOURCE, sorted.
    package let each: [String]

    private static let setPrefix = "resval-sources="
    private static let sourcePrefix = "resval-source="

    package init(_ sources: [FilePath]) {
        each = Set(sources.map { Self.sourcePrefix + Percent.text(of: $0.bytes) }).sorted()
        fingerprint = shortName(for: each.joined(separator: ",").utf8)
        set = Self.setPrefix + fingerprint
    }

    /// All tags.
    package var all: [String] { [set] + each }

    /// Whether a tag has the prefix that is reserved for this program's tags.
    package static func isReserved(_ tag: String) -> Bool { tag.utf8.starts(with: "resval-".utf8) }

    /// Whether users may give a snapshot a tag. restic separates tags by commas.
    package static func isAllowed(_ tag: String) -> Bool {
        !tag.isEmpty && !tag.utf8.contains(UInt8(ascii: ",")) && !isReserved(tag)
    }

    /// Returns the SOURCEs that tags name, sorted; empty for a snapshot of another program, and
    /// when a tag names anything but a plain absolute path.
    package static func sources(in tags: [String]) -> [FilePath] {
        let tagged = sourceTags(in: tags)
        let sources = tagged.compactMap {
            Percent.bytes(of: $0.utf8.dropFirst(sourcePrefix.utf8.count))
                .flatMap { FilePath(plainAbsolute: $0) }
        }
        return sources.count == tagged.count ? sources : []
    }

    /// Returns the tag for the set of SOURCEs; nil for a snapshot of another program.
    ///
    /// Every client of a repository can write such tags, so they count only when they are
    /// consistent.
    package static func set(in tags: [String]) -> String? {
        let tagged = sourceTags(in: tags)
        let set = setPrefix + shortName(for: tagged.joined(separator: ",").utf8)
        return tags.contains(set) && !sources(in: tags).isEmpty ? set : nil
    }

    private static func sourceTags(in tags: [String]) -> [String] {
        Set(tags.filter { $0.hasPrefix(sourcePrefix) }).sorted()
    }
}

/// The tag that gives the order of snapshots where their times do not.
///
/// When a clock was ahead, or is set back, it gives a snapshot an earlier time than those made
/// before it. That snapshot, and those after it, get a higher epoch.
package enum OrderTag {
    private static let prefix = "resval-epoch="
    private static let limit = 1_000_000_000

    /// Returns the epoch in a list of tags; 0 if there is none. Any client of a repository can
    /// write tags, so values out of range are ignored.
    static func epoch(in tags: [String]) -> Int {
        tags.filter { $0.hasPrefix(prefix) }
            .compactMap { Int($0.dropFirst(prefix.count)) }
            .filter { (1...limit).contains($0) }.max() ?? 0
    }

    /// Returns the tags for a snapshot made now, so that it is ordered after all others.
    ///
    /// - Parameter snapshots: all snapshots of this machine, in the order of
    ///   ``Snapshot/isOlder(than:)``.
    static func next(after snapshots: [Snapshot], now: FileTime) -> [String] {
        guard let newest = snapshots.last(where: { $0.sourceSet != nil }) else { return [] }
        let epoch = newest.time < now ? newest.epoch : min(newest.epoch + 1, limit)
        return epoch == 0 ? [] : ["\(prefix)\(epoch)"]
    }
}

/// Tags that describe the state of a snapshot.
package enum StateTag {
    /// The snapshot lacks something that the plan contains.
    package static let incomplete = "resval-incomplete"
    /// The snapshot covers much less than its predecessor did.
    package static let shrunk = "resval-coverage=shrunk"
    /// A user accepted that the snapshot covers less.
    package static let accepted = "resval-coverage=accepted"
    /// Some files are evicted into another repository; the record lists them.
    package static let missesEvicted = "resval-evicted=elsewhere"
    /// The snapshot has the only copy of the content of evicted files.
    package static let kept = "resval-kept"
}
