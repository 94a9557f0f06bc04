import SystemCalls
import SystemPackage

/// The tags by which a snapshot tells that this program made it, and of which SOURCEs.
///
/// restic keeps a snapshot's paths too, but they are the list of a cover when many items are left
/// out, and it repairs what is not UTF-8. Tags are ASCII, with every other byte and every comma as
/// `%XX`.
package struct SourceTags: Sendable, Hashable {
    /// The tag for the set of SOURCEs: equal for equal sets, whatever their order.
    package let set: String
    /// What tells the set from others, in ASCII.
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

    /// Whether a tag begins as those of this program do.
    package static func isReserved(_ tag: some StringProtocol) -> Bool { tag.hasPrefix("resval-") }

    /// The SOURCEs that tags tell, sorted; empty for a snapshot of another program, and where a tag
    /// tells anything but an absolute path that leads down.
    package static func sources(in tags: [String]) -> [FilePath] {
        let told = sourceTags(in: tags)
        let sources = told.compactMap {
            Percent.bytes(of: $0.utf8.dropFirst(sourcePrefix.utf8.count))
                .flatMap { FilePath(plainAbsolute: $0) }
        }
        return sources.count == told.count ? sources : []
    }

    /// The tag for the set of SOURCEs among others; nil for a snapshot of another program.
    ///
    /// Every client of a repository can write such tags: they count when they agree with each other.
    package static func set(in tags: [String]) -> String? {
        let told = sourceTags(in: tags)
        let set = setPrefix + shortName(for: told.joined(separator: ","))
        return tags.contains(set) && !sources(in: tags).isEmpty ? set : nil
    }

    private static func sourceTags(in tags: [String]) -> [String] {
        Set(tags.filter { $0.hasPrefix(sourcePrefix) }).sorted()
    }
}

/// FNV-1a with 64 bits, in hexadecimal: a short name for text, the same on every machine and in
/// every version.
private func shortName(for text: String) -> String {
    let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
        (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
