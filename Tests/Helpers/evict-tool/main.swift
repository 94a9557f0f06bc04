// evict-tool JOURNAL evict|download|recover PATH CONTENT [CALL [PERMISSIONS]]
//
// Evicts one file, or brings it back, with the file CONTENT in the place of a repository, of which also
// the time is taken, and these permissions, as a decimal number. Prints what became of it, and exits with 1
// when it was refused. With CALL the process kills itself, as SIGKILL from outside would, before its
// system call of that number; 0 for never.

import EffectiveValues
import Eviction
import Glibc
import SystemCalls
import SystemPackage

private let arguments = CommandLine.arguments
private let journal = Journal(directory: FilePath(arguments[1]))
private let path = FilePath(arguments[3])

private func content() throws -> [UInt8] { try contentsOfFile(FilePath(arguments[4])) }

private let hold = HoldSnapshot(snapshot: "0123456789abcdef", tag: "resval-hold=1", repository: [])

private func known(_ content: [UInt8]) throws -> EvictedFile {
    EvictedFile(
        path: path, identity: try path.status().identity, size: Int64(content.count),
        modified: try FilePath(arguments[4]).status().contentModificationTime,
        permissions: arguments.count > 6 ? UInt16(arguments[6]) ?? 0 : 0o640,
        content: ContentHash(of: content), dataBytes: nil, hold: hold)
}

private func work(_ content: [UInt8]) throws -> String {
    guard
        let name = EvictionRecord(
            repository: "fedcba9876543210", snapshot: hold.snapshot, item: 0)
    else { return "no record" }
    switch arguments[2] {
    case "evict":
        let left = try journal.evict(
            try journal.candidate(at: path), name, hold: hold,
            content: ContentHash(of: content))
        return "evicted \(left)"
    case "download":
        guard let download = try Download.begin(at: path, name, known(content), journal) else {
            return "whole"
        }
        for start in stride(from: 0, to: content.count, by: 30_000) {
            try content[start..<min(start + 30_000, content.count)]
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

private func run() throws -> String {
    let content = try content()
    guard arguments.count > 5, let last = Int(arguments[5]) else { return try work(content) }
    let mock = SystemCallMock([:])
    var count = 0
    mock.beforeCall = { _ in
        count += 1
        if count == last { kill(getpid(), SIGKILL) }
    }
    return try mock.run { try work(content) }
}

do {
    print(try run())
} catch {
    print(EvictionError(error, at: path).name)
    exit(1)
}
