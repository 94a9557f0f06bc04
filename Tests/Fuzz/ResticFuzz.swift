import ResourceValues
import SystemPackage

@testable import Backups
@testable import SystemCalls

/// Reads any bytes as a line of what restic answers, of a record and of its tags: never a crash, no
/// negative size, and no time that does not exist.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzRestic(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let line = bytes[...]
    if let entry = (try? SnapshotEntry.reading(line)) ?? nil {
        precondition(entry.size >= 0 && entry.modified.nanoseconds < 1_000_000_000)
    }
    if let snapshot = try? Snapshot(json: line) {
        _ = snapshot.recordPath?.hides(bytes)
        _ = snapshot.recordPath?.top
        _ = [snapshot].forgetDecisions(keptByRules: [:], holds: [], now: .max)
    }
    var scanner = JSONScanner(line, hasLostBytes: false)
    _ = try? scanner.forgetReason()
    precondition(LockSights(LockSights(bytes).contents) == LockSights(bytes))
    var messages = StatusMessages { progress in
        precondition((progress.filesDone ?? 0) >= 0 && progress.bytesDone >= 0)
    }
    messages.receive(line: line)
    var errors = ErrorOutput()
    try? errors.receive(line: line)
    if let record = try? SnapshotRecord(text: bytes) { findHolds(after: record) }
    bytes.withUnsafeBytes { bytes in
        var elements = JSONElements()
        try? elements.append(bytes) { element throws(JSONError) in
            _ = try Snapshot(json: element)
        }
    }
    var files = LostFileLines()
    files.receive(line: line)
    precondition(files.files.allSatisfy { $0.path.count <= bytes.count })
    precondition(printedName(bytes).count <= bytes.count)
    var whole = JSONScanner(line)
    _ = try? whole.skipValue()
    var text = JSONScanner(line)
    if let string = try? text.string() { precondition(string.count <= bytes.count) }
    let tags = String(decoding: bytes, as: UTF8.self).split(separator: ",").map(String.init)
    let sources = SnapshotTags(tags).sources
    if let record = RecordPath(tags: tags, sources: sources) {
        _ = (record.top, record.hides(bytes))
    }
    return 0
}

/// Writes a record, and finds the holds of a snapshot after the one with it, of the same.
private func findHolds(after record: SnapshotRecord) {
    precondition(record.sources.allSatisfy { $0.amount.bytes >= 0 && $0.amount.items >= 0 })
    guard let again = try? SnapshotRecord(text: record.text) else { fatalError("not read again") }
    precondition(again.sources == record.sources && again.holds == record.holds)
    var previous = record
    previous.date = .max
    var new = previous
    new.isWhole = true
    let update = HoldUpdate(after: new, previous: previous)
    precondition(update.holds.count <= previous.holds.count + 1)
}
