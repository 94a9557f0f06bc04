import SystemCalls
import SystemPackage

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
        fingerprint = shortName(for: each.joined(separator: ","))
        set = Self.setPrefix + fingerprint
    }

    /// All tags.
    package var all: [String] { [set] + each }

    /// Whether a tag has the prefix that is reserved for this program's tags.
    package static func isReserved(_ tag: some StringProtocol) -> Bool { tag.hasPrefix("resval-") }

    /// Returns the SOURCEs that tags name, sorted; empty for a snapshot of another program, and
    /// when a tag names anything but a plain absolute path.
    package static func sources(in tags: [String]) -> [FilePath] {
        let told = sourceTags(in: tags)
        let sources = told.compactMap {
            Percent.bytes(of: $0.utf8.dropFirst(sourcePrefix.utf8.count))
                .flatMap { FilePath(plainAbsolute: $0) }
        }
        return sources.count == told.count ? sources : []
    }

    /// Returns the tag for the set of SOURCEs; nil for a snapshot of another program.
    ///
    /// Every client of a repository can write such tags, so they count only when they are
    /// consistent.
    package static func set(in tags: [String]) -> String? {
        let told = sourceTags(in: tags)
        let set = setPrefix + shortName(for: told.joined(separator: ","))
        return tags.contains(set) && !sources(in: tags).isEmpty ? set : nil
    }

    private static func sourceTags(in tags: [String]) -> [String] {
        Set(tags.filter { $0.hasPrefix(sourcePrefix) }).sorted()
    }
}

/// Returns the 64-bit FNV-1a hash of a text, in hexadecimal: the same on every machine and in every
/// version.
private func shortName(for text: String) -> String {
    let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
        (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
