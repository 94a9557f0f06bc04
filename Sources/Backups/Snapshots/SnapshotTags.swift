import SystemCalls
import SystemPackage
import TextFormats

/// The SET that a snapshot belongs to: the snapshots that one installation makes for one configuration,
/// one after the other. Neither a host name nor a machine id tells two machines apart.
package struct SnapshotSet: Sendable, Hashable {
    /// A random identifier that the state directory keeps: 16 hexadecimal digits.
    package let identifier: String
    /// What it backs up: 16 hexadecimal digits of the hash of the configuration file's path, or of the
    /// SOURCEs where there is none.
    package let configuration: String

    package init(identifier: String, configuration: String) {
        (self.identifier, self.configuration) = (identifier, configuration)
    }

    /// Both in one word.
    var text: String { "\(identifier)-\(configuration)" }

    /// The tag of its snapshots.
    var tag: String { Self.prefix + text }

    private static let prefix = "resval-set="

    /// Finds the SET in a list of tags; nil if they name none, or several.
    init?(tags: [String]) {
        let named = Set(tags.filter { $0.hasPrefix(Self.prefix) })
        guard let tag = named.first, named.count == 1 else { return nil }
        let parts = tag.dropFirst(Self.prefix.count).split(separator: "-")
        guard parts.count == 2, parts.allSatisfy(isIdentifier) else { return nil }
        self.init(identifier: String(parts[0]), configuration: String(parts[1]))
    }
}

/// Whether text is an identifier of 16 hexadecimal digits.
func isIdentifier(_ text: some StringProtocol) -> Bool {
    text.utf8.count == 16 && text.isHexadecimal
}

/// Returns a new identifier of 16 hexadecimal digits.
func randomIdentifier() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}

/// The tags that name the SOURCEs of a snapshot.
///
/// restic stores a snapshot's paths too, but they are the list of a cover when many items are
/// excluded, and restic alters what is not UTF-8. Tags are ASCII, with every other byte and every
/// comma as `%XX`.
package struct SourceTags: Sendable, Hashable {
    /// A hash of the set of SOURCEs: equal for equal sets, whatever their order.
    package let fingerprint: String
    /// One tag for each SOURCE, sorted.
    package let all: [String]

    private static let prefix = "resval-source="

    package init(_ sources: [FilePath]) {
        all = Set(sources.map { Self.prefix + Percent.text(of: $0.bytes) }).sorted()
        fingerprint = shortName(for: all.joined(separator: ",").utf8)
    }

    /// Whether a tag has the prefix that is reserved for this program's tags.
    package static func isReserved(_ tag: String) -> Bool { tag.utf8.starts(with: "resval-".utf8) }

    /// Whether users may give a snapshot a tag. restic separates tags by commas.
    package static func isAllowed(_ tag: String) -> Bool {
        !tag.isEmpty && !tag.utf8.contains(UInt8(ascii: ",")) && !isReserved(tag)
    }

    /// Returns the SOURCEs that tags name, sorted; empty for a snapshot of another program, and
    /// when a tag names anything but a plain absolute path.
    package static func sources(in tags: [String]) -> [FilePath] {
        let tagged = Set(tags.filter { $0.hasPrefix(prefix) }).sorted()
        let sources = tagged.compactMap {
            Percent.bytes(of: $0.utf8.dropFirst(prefix.utf8.count))
                .flatMap { FilePath(plainAbsolute: $0) }
        }
        return sources.count == tagged.count ? sources : []
    }
}

/// The tag that gives the order of a SET's snapshots, whatever a clock says.
enum NumberTag {
    private static let prefix = "resval-number="
    static let limit: Int64 = 1_000_000_000

    static func text(_ number: Int64) -> String { "\(prefix)\(number)" }

    /// Returns the number in a list of tags; nil if there is none, or several. Every client of a
    /// repository can write tags, so a number out of range is none.
    static func number(in tags: [String]) -> Int64? {
        let named = Set(tags.filter { $0.hasPrefix(prefix) })
        guard named.count == 1, let tag = named.first,
            let number = Int64(tag.dropFirst(prefix.count))
        else { return nil }
        return (1...limit).contains(number) ? number : nil
    }
}

/// Tags that describe the state of a snapshot.
package enum StateTag {
    /// It was compared with what was on the disk; `forget` adds the tag. It counts only together with
    /// ``judgedTree(_:)``, since a snapshot that was written anew with less keeps its tags.
    package static let judged = "resval-judged"
    /// The tag with the tree that was judged.
    static func judgedTree(_ root: String) -> String { "resval-judged-tree=\(root.prefix(16))" }
    /// The snapshot lacks something that the plan contains.
    package static let incomplete = "resval-incomplete"
    /// Nothing could be noted of it, so it belongs to no SET that goes on.
    static let unnoted = "resval-unnoted"
    /// Some files are evicted into another repository; the record lists them.
    package static let missesEvicted = "resval-evicted=elsewhere"
    /// The snapshot has the only copy of the content of evicted files.
    package static let kept = "resval-kept"
}
