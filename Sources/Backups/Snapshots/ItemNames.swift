import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Names of items in snapshots, for shells that complete words, as they are kept: for each the week in
/// which it was stored last, the number of bytes that it shares with the name before, the others, NUL.
///
/// Only names that can be typed and shown, and only while there is room. Those of directories end with a
/// slash.
struct ItemNames: Sendable {
    static let longestText = 16 << 20

    private(set) var text: [UInt8] = []
    private var last: [UInt8] = []
    private let week = UInt8(truncatingIfNeeded: FileTime.now.seconds / 604_800)

    /// Adds the names of an earlier text that are not stored any more, for 57 weeks.
    mutating func add(_ earlier: [UInt8], unless isStored: ([UInt8]) -> Bool) {
        Self.forEach(in: earlier) { name, week in
            let path = name.last == slash ? Array(name.dropLast()) : name
            if self.week &- week <= 57, !isStored(path) { add(name, storedIn: week) }
        }
    }

    mutating func add(_ name: [UInt8], storedIn week: UInt8? = nil) {
        var shared = 0
        let most = min(last.count, name.count, 255)
        while shared < most, last[shared] == name[shared] { shared += 1 }
        guard text.count + name.count - shared + 3 <= Self.longestText,
            name.withUnsafeBufferPointer(TextSafety.isSafe)
        else { return }
        text += [week ?? self.week, UInt8(shared)] + name[shared...] + [0]
        last = name
    }

    /// Calls `body` with each name and its week, up to what is damaged.
    static func forEach(in text: [UInt8], _ body: ([UInt8], UInt8) -> Void) {
        var name: [UInt8] = []
        var rest = text[...]
        while let week = rest.popFirst(), let shared = rest.popFirst(), shared <= name.count,
            let end = rest.firstIndex(of: 0)
        {
            name.replaceSubrange(Int(shared)..., with: rest[..<end])
            rest = rest[(end + 1)...]
            body(name, week)
        }
    }
}

private let slash = UInt8(ascii: "/")
private let mostItems = 2000

/// Returns the words that begin with one and name an item that this installation stored in a repository,
/// each up to the next slash and with that; none where there are too many, as a shell would type what a part
/// of them has in common.
///
/// - Parameters:
///   - word: a path as it is typed, without quotes. `~/` is the home.
///   - state: the programs' directory for state.
package func storedItems(beginningWith word: [UInt8], in state: FilePath) -> [[UInt8]] {
    let cut = word.lastIndex(of: slash).map { $0 + 1 } ?? 0
    var directory = Array(word[..<cut])
    if directory.starts(with: "~/".utf8), let home = currentBaseDirectories().home {
        directory = home.bytes + word[1..<cut]
    }
    guard let asked = try? AskedPath(FilePath(bytes: directory).appending("x")) else { return [] }
    let starts = [asked.path, asked.resolved ?? asked.path]
        .map { $0.bytes.dropLast() + word[cut...] }
    var found: Set<[UInt8]> = []
    for file in RecordNotes.namesFiles(in: state) {
        // They help at the keyboard only: no failure is told.
        let text = try? contentsOfStateFile(file, limit: ItemNames.longestText)
        ItemNames.forEach(in: text ?? []) { name, _ in
            guard found.count <= mostItems,
                let start = starts.first(where: { name.starts(with: $0) }),
                // Otherwise it is the directory itself.
                name.count > start.count || cut < word.count
            else { return }
            let rest = name[start.count...]
            let end = rest.firstIndex(of: slash).map { $0 + 1 } ?? rest.endIndex
            found.insert(word + rest[..<end])
        }
    }
    guard found.count <= mostItems else { return [] }
    return found.filter {
        // A name with both forms was of two kinds. A dash begins options, a colon what is no candidate.
        !found.contains($0 + [slash]) && !"-:".utf8.contains($0[0])
            && $0.withUnsafeBufferPointer(TextSafety.isSafe)
    }.sorted { $0.lexicographicallyPrecedes($1) }
}
