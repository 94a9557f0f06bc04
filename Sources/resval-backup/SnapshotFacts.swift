import Backups
import CommandSupport
import SystemCalls
import TextFormats

/// The facts that `show` prints about a snapshot as a whole.
struct SnapshotFacts {
    private let snapshot: Snapshot
    /// Its record; nil if it has none.
    private var record: SnapshotRecord?
    private var holds: [HeldPart] = []
    /// What was missing when it was made, and what could not be stored.
    private var lacks: [[UInt8]] = []

    /// Reads a snapshot's record, if it has one.
    init(
        _ snapshot: Snapshot, among list: SnapshotList, _ engine: Restic
    ) async throws(BackupError) {
        self.snapshot = snapshot
        do throws(BackupError) {
            record = try await engine.record(of: snapshot)
            lacks = try await engine.lacks(of: snapshot)
            holds = try await engine.heldSnapshots(by: snapshot, among: list).map {
                HeldPart($0)
            }
        } catch  where error.code == .noRecord {
            // Another program or an older version made the snapshot: only the engine's facts are shown.
        }
    }

    private var kept: [KeptFile] { record?.kept ?? [] }

    private var evictedFiles: Int { record?.exclusions.count(where: \.isEvicted) ?? 0 }

    func print(asJSON isJSON: Bool) {
        var buffer = OutputBuffer()
        if isJSON { writeJSON(to: &buffer) } else { writeText(to: &buffer) }
        buffer.flush()
    }

    private func writeJSON(to buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add(snapshot)
        line.add("lacks", paths: lacks)
        line.add("evictedItems", evictedFiles)
        line.add("kept", objects: kept) { file, object in
            object.add(path: file.path)
            object.add("size", file.size)
            object.add("sha256", file.content?.hexadecimal)
        }
        let stored = kept.isEmpty ? record : nil
        line.add("items", stored?.amount.items)
        line.add("bytes", stored?.amount.bytes)
        line.add("excludedItems", stored?.exclusions.count)
        line.add("sources", objects: snapshot.sources) { source, object in
            object.add(path: source.bytes)
            let known = record?.sources.first { $0.path == source.bytes }
            object.add("filesystem", known?.filesystem)
            object.add("isEmpty", known?.isEmpty)
        }
        line.add(holds: holds)
        line.end(in: &buffer)
    }

    private func writeText(to buffer: inout OutputBuffer) {
        write("snapshot", snapshot.identifier, to: &buffer)
        write("made", "\(snapshot.time.localText)", to: &buffer)
        write("by", "\(snapshot.userName) on \(snapshot.hostName)", to: &buffer)
        for source in snapshot.sources {
            buffer.append("source:   ")
            buffer.append(path: source)
            if let known = record?.sources.first(where: { $0.path == source.bytes }) {
                if !known.filesystem.isEmpty {
                    buffer.append(" on ")
                    buffer.append(name: Array(known.filesystem.utf8))
                }
                if known.isEmpty { buffer.append(", empty") }
            }
            buffer.append("\n")
        }
        for tag in snapshot.tags { write("tag", tag, to: &buffer) }
        if !kept.isEmpty {
            let bytes = kept.reduce(Int64(0)) { $0.addingSaturating($1.size) }
            let files = counted(kept.count, "evicted file")
            write("keeps", "\(files), \(sizeText(bytes))", to: &buffer)
        } else if let record {
            let items = counted(record.amount.items, "item")
            write("contains", "\(items), \(sizeText(record.amount.bytes))", to: &buffer)
            if evictedFiles > 0 {
                write(
                    "evicted",
                    "\(counted(evictedFiles, "file")) in other snapshots (list: --excluded)",
                    to: &buffer)
            }
            let excluded = counted(record.exclusions.count, "item")
            write("excluded", "\(excluded) (list: --excluded)", to: &buffer)
        } else {
            let maker =
                snapshot.isPinned
                ? "an older resval-backup evicted into it" : "resval-backup did not make it"
            write("record", "none: \(maker)", to: &buffer)
        }
        writeState(to: &buffer)
    }

    private func writeState(to buffer: inout OutputBuffer) {
        if snapshot.isIncomplete { write("state", "incomplete", to: &buffer) }
        for path in lacks {
            buffer.append("lacks:    ")
            buffer.append(name: path)
            buffer.append("\n")
        }
        if snapshot.isPinned { write("state", "kept: never forgotten", to: &buffer) }
        if snapshot.isFromFuture(at: FileTime.now.seconds) {
            write("state", "dated in the future: never the latest", to: &buffer)
        }
        for hold in holds {
            buffer.append("holds:    ")
            hold.write(to: &buffer)
        }
    }

    private func write(_ name: String, _ text: String, to buffer: inout OutputBuffer) {
        let padding = String(repeating: " ", count: max(1, 9 - name.count))
        buffer.append(text: "\(name):\(padding)")
        buffer.append(name: Array(text.utf8))
        buffer.append("\n")
    }
}
