import ArgumentParser
import BackupEngines
import CommandSupport
import SystemCalls
import TextFormats

/// `resval-backup snapshots`.
struct SnapshotsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshots", abstract: "List the snapshots of a repository, the oldest first.",
        discussion: """
            Those made while the clock was wrong come in the order they were made. A snapshot that \
            is too damaged to know what it is of is named on standard error, and the exit code is 3.

            JSON FIELDS
            \(JSONFields.version)
              snapshot: string (the full ID)
              time: time
              hostName: string
              userName: string
              tags: strings
              isOwn: boolean (made by resval-backup)
              isFromFuture: boolean
              isPinned: boolean (forget never removes it)
              sources[].path: string or null
              sources[].pathBase64: string, optional
            """)

    @OptionGroup var repository: RepositoryOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func run() async throws {
        let list = try await running { [repository] in
            try await repository.engine().list(SnapshotFilter())
        }
        let snapshots = list.snapshots
        var buffer = OutputBuffer()
        if json {
            for snapshot in snapshots { write(json: snapshot, to: &buffer) }
        } else {
            writeTable(snapshots, to: &buffer)
        }
        buffer.flush()
        if !list.unreadable.isEmpty { throw ExitCode(3) }
    }

    private func write(json snapshot: Snapshot, to buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add("snapshot", snapshot.identifier)
        line.add("time", snapshot.time)
        line.add("hostName", snapshot.hostName)
        line.add("userName", snapshot.userName)
        line.add("tags", strings: snapshot.tags)
        line.add("isOwn", snapshot.sourceSet != nil)
        line.add("isFromFuture", snapshot.isFromFuture(at: FileTime.now.seconds))
        line.add("isPinned", snapshot.isPinned)
        line.add("sources", objects: snapshot.sources) { source, object in
            object.add(path: source.bytes)
        }
        line.end(in: &buffer)
    }

    private func writeTable(_ snapshots: [Snapshot], to buffer: inout OutputBuffer) {
        guard !snapshots.isEmpty else { return }
        let hostWidth = max(4, snapshots.map(\.hostName.count).max() ?? 0)
        buffer.append(text: "\(padded("ID", 8))  \(padded("TIME", 20))  ")
        buffer.append(text: "\(padded("HOST", hostWidth))  SOURCES\n")
        for snapshot in snapshots {
            // Only JSON output has nanoseconds.
            let time = snapshot.time.rfc3339ToTheSecond
            buffer.append(text: "\(snapshot.shortIdentifier)  \(time)  ")
            buffer.append(name: Array(padded(snapshot.hostName, hostWidth).utf8))
            buffer.append("  ")
            for (index, source) in snapshot.sources.enumerated() {
                if index > 0 { buffer.append(", ") }
                buffer.append(name: source.bytes)
            }
            if snapshot.isPinned { buffer.append("  keeps evicted files") }
            for tag in snapshot.tags {
                buffer.append("  #")
                buffer.append(name: Array(tag.utf8))
            }
            if snapshot.isFromFuture(at: FileTime.now.seconds) {
                buffer.append("  (dated in the future)")
            }
            buffer.append("\n")
            buffer.endRecord()
        }
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
