import ArgumentParser
import CommandSupport
import ResourceValues

struct CapacityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capacity",
        abstract: "Print the capacity of a volume, in bytes.",
        discussion: """
            Lines KEY=VALUE with the volume's size and what an ordinary user may still store there. \
            Prints nothing and exits with 1 where the filesystem does not tell (such as /proc).

            JSON fields: path, pathBase64 (only when path is null), volumeTotalCapacity, \
            volumeAvailableCapacity.

            EXAMPLES
              resval capacity
              resval capacity --json /srv
            """)

    @Argument(help: "An item on the volume.")
    var path = PathArgument(bytes: Array(".".utf8))

    @Flag(name: .customLong("json"), help: "Print one JSON object.")
    var isJSON = false

    func run() throws {
        let outcome = Outcome()
        do throws(FileError) {
            let capacity = try path.path.volumeCapacity()
            if capacity == nil { outcome.noteNo() }
            write(capacity)
        } catch {
            Messages.write(error, at: path)
            outcome.noteFailure()
        }
        try outcome.finish()
    }

    private func write(_ capacity: VolumeCapacity?) {
        var buffer = OutputBuffer()
        if isJSON {
            var line = JSONLine()
            line.add(path: path.bytes)
            line.add("volumeTotalCapacity", capacity?.total)
            line.add("volumeAvailableCapacity", capacity?.available)
            line.end(in: &buffer)
        } else if let capacity {
            buffer.append("volumeTotalCapacity=")
            buffer.append(capacity.total)
            buffer.append("\nvolumeAvailableCapacity=")
            buffer.append(capacity.available)
            buffer.append("\n")
        }
        buffer.flush()
    }
}
