import Backups
import CommandSupport
import SystemCalls
import TextFormats

/// The facts that `show` prints about a snapshot as a whole.
struct SnapshotFacts: RecordHandler {
    private var snapshot: Snapshot
    private var facts: RecordFacts?
    private var sources: [RecordFacts.Source] = []
    private var causes: [RecordedCause] = []
    private var holds: [HeldPart] = []
    private var evictedFiles = 0
    private var kept: [KeptFile] = []

    /// Reads a snapshot's record, if it has one.
    init(_ snapshot: Snapshot, _ engine: Restic) async throws(BackupError) {
        self.snapshot = snapshot
        do throws(BackupError) {
            self = try await engine.readRecord(of: snapshot, with: self)
            holds = try await engine.heldSnapshots(by: snapshot).map {
                HeldPart($0.hold, in: $0.snapshot)
            }
        } catch  where error.code == .noRecord {
            // Another program or an older version made the snapshot: only the engine's facts are shown.
        }
    }

    mutating func receive(_ line: RecordLine) {
        switch line {
        case .facts(let facts): self.facts = facts
        case .source(let source): sources.append(source)
        case .coverage(let cause): causes.append(cause)
        case .excluded(let item): if item.isEvicted { evictedFiles += 1 }
        case .kept(let file): kept.append(file)
        case .protected, .missing, .hold, .place, .unstored, .absent, .fallen, .verdict:
            break
        }
    }

    func print(asJSON isJSON: Bool) {
        var buffer = OutputBuffer()
        if isJSON { writeJSON(to: &buffer) } else { writeText(to: &buffer) }
        buffer.flush()
    }

    private func writeJSON(to buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add("snapshot", snapshot.identifier)
        line.add("time", snapshot.time)
        line.add("hostName", snapshot.hostName)
        line.add("userName", snapshot.userName)
        line.add("tags", strings: snapshot.tags)
        line.add("isComplete", !snapshot.isIncomplete)
        line.add("isPinned", snapshot.isPinned)
        line.add("isFromFuture", snapshot.isFromFuture(at: FileTime.now.seconds))
        line.add("evictedItems", evictedFiles)
        line.add("kept", objects: kept) { file, object in
            object.add(path: file.path)
            object.add("size", file.size)
            object.add("sha256", file.content?.hexadecimal)
        }
        line.add("items", facts?.items)
        line.add("bytes", facts?.bytes)
        line.add("excludedItems", facts?.excludedItems)
        line.add("markers", strings: facts?.markers ?? [])
        line.add("usesLocations", facts?.usesLocations)
        line.add("sources", objects: snapshot.sources) { source, object in
            object.add(path: source.bytes)
            let known = sources.first { $0.path == source.bytes }
            object.add("filesystem", known?.filesystem)
            object.add("isEmpty", known?.isEmpty)
        }
        line.add("coverage", objects: causes) { cause, object in
            object.add("reason", cause.cause)
            if let path = cause.path { object.add(path: path) }
            object.add("sentence", cause.sentence)
        }
        line.add(holds: holds)
        line.end(in: &buffer)
    }

    private func writeText(to buffer: inout OutputBuffer) {
        write("snapshot", snapshot.identifier, to: &buffer)
        write("made", "\(snapshot.time.rfc3339ToTheSecond)", to: &buffer)
        write("by", "\(snapshot.userName) on \(snapshot.hostName)", to: &buffer)
        for source in snapshot.sources {
            buffer.append("source:   ")
            buffer.append(path: source)
            if let known = sources.first(where: { $0.path == source.bytes }) {
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
        } else if let facts {
            let items = counted(facts.items, "item")
            write("contains", "\(items), \(sizeText(facts.bytes))", to: &buffer)
            if evictedFiles > 0 {
                write(
                    "evicted",
                    "\(counted(evictedFiles, "file")) in other snapshots (list: --excluded)",
                    to: &buffer)
            }
            let excluded = counted(facts.excludedItems, "item")
            write("excluded", "\(excluded) (list: --excluded)", to: &buffer)
            let places = facts.usesLocations ? ", temporary and caches directories" : ""
            write("marks", facts.markers.joined(separator: ", ") + places, to: &buffer)
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
        if snapshot.isPinned { write("state", "kept: never forgotten", to: &buffer) }
        if snapshot.isFromFuture(at: FileTime.now.seconds) {
            write("state", "dated in the future: never the latest", to: &buffer)
        }
        for hold in holds {
            buffer.append("holds:    ")
            if let path = hold.path {
                buffer.append(name: path)
                buffer.append(": ")
            }
            buffer.append(text: "\(hold.sentence)\n")
        }
        for cause in causes {
            buffer.append("covers:   ")
            if let path = cause.path {
                buffer.append(name: path)
                buffer.append(": ")
            }
            buffer.append(name: Array(cause.sentence.utf8))
            buffer.append("\n")
        }
    }

    private func write(_ name: String, _ text: String, to buffer: inout OutputBuffer) {
        let padding = String(repeating: " ", count: max(1, 9 - name.count))
        buffer.append(text: "\(name):\(padding)")
        buffer.append(name: Array(text.utf8))
        buffer.append("\n")
    }
}
