import SystemCalls
import SystemPackage

/// The items of a snapshot that are counted: the SOURCEs and what is below them, not the directories
/// above, which snapshots contain, too.
struct SourceItems: Sendable {
    private let sources: [[UInt8]]

    init(_ sources: [FilePath]) { self.sources = sources.map(\.bytes) }

    /// Whether a path is that of an item.
    func contains(_ path: [UInt8]) -> Bool { sources.contains { isHeld(path, by: $0) } }

    /// The number of items that no engine lists: the root directory, which is always part of a
    /// snapshot of it.
    var unlistedCount: Int { sources.contains([UInt8(ascii: "/")]) ? 1 : 0 }
}
