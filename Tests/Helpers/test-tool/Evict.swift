import EffectiveValues
import Eviction
import Glibc
import SystemCalls
import SystemPackage

/// `evict JOURNAL evict|download|recover PATH CONTENT [CALL [PERMISSIONS]]`
///
/// Evicts one file, or brings it back, with the file CONTENT in the place of a repository, of which
/// also the time is taken, and these permissions, as a decimal number. Prints what became of it, and
/// exits with 1 when it was refused. With CALL the process kills itself before its system call of that
/// number; 0 for never.
func runEvict(_ arguments: [String]) {
    let move = Move(arguments)
    do {
        let content = try contentsOfFile(move.content)
        let last = arguments.count > 4 ? Int(arguments[4]) ?? 0 : 0
        print(try dying(before: last, { _ in true }) { try move.run(content) })
    } catch {
        print(EvictionError(error, at: move.path).name)
        exit(1)
    }
}

private struct Move {
    let journal: Journal
    let work: String
    let path: FilePath
    let content: FilePath
    let permissions: UInt16

    private let pinned = PinnedSnapshot(
        snapshot: "0123456789abcdef", tag: "resval-hold=1", repository: [])

    init(_ arguments: [String]) {
        journal = Journal(directory: FilePath(arguments[0]))
        work = arguments[1]
        path = FilePath(arguments[2])
        content = FilePath(arguments[3])
        permissions = arguments.count > 5 ? UInt16(arguments[5]) ?? 0 : 0o640
    }

    func run(_ bytes: [UInt8]) throws -> String {
        guard
            let name = EvictionRecord(
                repository: "fedcba9876543210", snapshot: pinned.snapshot, item: 0)
        else { return "no record" }
        switch work {
        case "evict":
            let left = try journal.evict(
                try journal.candidate(at: path), name, pinned: pinned,
                content: ContentHash(of: bytes))
            return "evicted \(left)"
        case "download":
            guard let download = try Download.begin(at: path, name, known(bytes), journal) else {
                return "whole"
            }
            for start in stride(from: 0, to: bytes.count, by: 30_000) {
                try bytes[start..<min(start + 30_000, bytes.count)]
                    .withUnsafeBytes { try download.receive($0) }
            }
            try download.finish()
            return "downloaded"
        case "recover":
            return try journal.contents().files.map { "\(try journal.recover($0))" }.joined()
        default:
            return "usage"
        }
    }

    private func known(_ bytes: [UInt8]) throws -> EvictedFile {
        EvictedFile(
            path: path, identity: try path.status().identity, size: Int64(bytes.count),
            modified: try content.status().contentModificationTime, permissions: permissions,
            content: ContentHash(of: bytes), dataBytes: nil, pinned: pinned)
    }
}
