import Backups
import EffectiveValues
import Glibc
import ResourceValues
import SystemCalls
import SystemPackage

/// `evict STATE evict|download|recover PATH CONTENT [CALL [PERMISSIONS]]`
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
    let state: EvictionDirectory
    let work: String
    let path: FilePath
    let content: FilePath
    let permissions: UInt16

    init(_ arguments: [String]) {
        state = EvictionDirectory(path: FilePath(arguments[0]))
        work = arguments[1]
        path = FilePath(arguments[2])
        content = FilePath(arguments[3])
        permissions = arguments.count > 5 ? UInt16(arguments[5]) ?? 0 : 0o640
    }

    func run(_ bytes: [UInt8]) throws -> String {
        let modified = try content.status().contentModificationTime
        guard
            let record = EvictionRecord(
                repository: "fedcba9876543210", snapshot: "0123456789abcdef", item: 0,
                permissions: permissions, modified: modified)
        else { return "no record" }
        switch work {
        case "evict":
            let left = try state.evict(
                try state.evictableFile(at: path), record, content: ContentHash(of: bytes))
            return "evicted \(left)"
        case "download":
            guard let download = try Download(at: path, record, kept(bytes, modified), state) else {
                return "whole"
            }
            repeat {
                for start in stride(from: 0, to: bytes.count, by: 30_000) {
                    try bytes[start..<min(start + 30_000, bytes.count)]
                        .withUnsafeBytes { try download.receive($0) }
                }
            } while try download.endPass()
            return "downloaded"
        case "recover":
            return "\(try state.recover(at: path))"
        default:
            return "usage"
        }
    }

    private func kept(_ bytes: [UInt8], _ modified: FileTime) throws -> KeptFile {
        var kept = KeptFile()
        kept.path = path.bytes
        kept.owner = try path.status().owner
        kept.size = Int64(bytes.count)
        kept.modified = modified
        kept.permissions = permissions
        kept.content = ContentHash(of: bytes)
        return kept
    }
}
