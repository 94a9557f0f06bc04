import Eviction
import SystemCalls
import SystemPackage

/// Files of a snapshot that are read in one pass, together with everything else below a directory.
struct ContentBatch: Sendable, Hashable {
    /// The directory's absolute path in the snapshot.
    let directory: FilePath
    /// The wanted files below it: their absolute paths.
    let files: Set<[UInt8]>

    /// The bytes of unwanted files that are read to save one pass: it costs about as much time.
    static let allowance: Int64 = 16 << 20

    /// Divides the wanted files of a snapshot into batches.
    ///
    /// A directory is one batch if what else is below it costs less than a pass for each wanted file;
    /// otherwise each directory in it is considered by itself.
    ///
    /// - Parameter kept: all files of the snapshot, as its record describes them.
    static func batches(
        of wanted: Set<[UInt8]>, among kept: [KeptFile]
    ) -> [ContentBatch] {
        let slash = UInt8(ascii: "/")
        let files = kept.map { Member($0, isWanted: wanted.contains($0.path)) }
        var batches: [ContentBatch] = []
        var directories: [(path: [UInt8], members: [Member])] = [([], files)]
        while let (path, members) = directories.popLast() {
            let found = Set(members.filter(\.isWanted).map(\.path))
            guard !found.isEmpty else { continue }
            let unwanted = members.reduce(0 as Int64) {
                $0.addingSaturating($1.isWanted ? 0 : $1.size)
            }
            let limit = allowance.multipliedSaturating(by: Int64(found.count - 1))
            guard unwanted > limit else {
                let directory = FilePath(bytes: path.isEmpty ? [slash] : path)
                batches.append(ContentBatch(directory: directory, files: found))
                continue
            }
            let below = Dictionary(grouping: members) { member in
                member.path.dropFirst(path.count + 1).firstIndex(of: slash)
                    .map { Array(member.path[..<$0]) } ?? member.path
            }
            directories += below.map { ($0.key, $0.value) }
        }
        return batches
    }

    private struct Member {
        let path: [UInt8]
        let size: Int64
        let isWanted: Bool

        init(_ file: KeptFile, isWanted: Bool) {
            path = file.path
            size = max(0, file.size)
            self.isWanted = isWanted
        }
    }
}
