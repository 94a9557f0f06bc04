import ArgumentParser
import CommandSupport
import EffectiveValues
import ResourceValues
import StorageManagement
import SystemPackage

struct CapacityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capacity",
        abstract: "Print the size of a volume and the space available on it, in bytes.",
        discussion: """
            Lines KEY=VALUE: the volume's size, the space available to an ordinary user, the space \
            for important use (what the newest plan of resval-purge would free counts as available \
            while it is at most an hour old), the space for opportunistic use (a reserve stays \
            free), and the pressure: normal, low or critical. Bytes, inodes and quotas are \
            pressures. Prints nothing and exits with 1 where the filesystem does not report them \
            (such as /proc).

            --fits prints nothing: the exit code is 0 when so much may be stored, and 1 when not. \
            Other programs may store data in the meantime, so a write can still fail.

            JSON FIELDS
            \(JSONFields.item)
              volumeTotalCapacity: number or null (bytes; null when not reported)
              volumeAvailableCapacity: number or null
              volumeAvailableCapacityForImportantUsage: number or null
              volumeAvailableCapacityForOpportunisticUsage: number or null
              pressure: string or null (normal, low or critical)

            EXAMPLES
              resval capacity
              resval capacity --json /srv
              resval capacity --fits 4G --important ~/Videos && ./record
            """)

    @Argument(help: "An item on the volume.")
    var path = PathArgument(bytes: Array(".".utf8))

    @Flag(name: .customLong("json"), help: "Print one JSON object.")
    var isJSON = false

    @Option(help: "Only exit with 0 when so much may be stored (20M, 4G), else with 1.")
    var fits: ByteSize?

    @Flag(help: "With --fits: for important use, or for opportunistic use.")
    var use: Use = .important

    @Option(
        help: """
            What opportunistic use leaves free; a tenth of the volume, at most 5 GiB, unless given.
            """)
    var reserve: ByteSize?

    enum Use: String, EnumerableFlag { case important, opportunistic }

    func validate() throws {
        if fits != nil, isJSON { throw ValidationError("--fits prints nothing: omit --json") }
    }

    func run() throws {
        let outcome = Outcome()
        do throws(FileError) {
            var volume = StorageVolume(holding: path.path)
            volume.reserve = reserve?.bytes
            if let fits {
                let use: StorageUse = use == .important ? .important : .opportunistic
                if try !volume.fits(fits.bytes, for: use) { outcome.noteNo() }
            } else {
                let capacity = try volume.capacity()
                if capacity == nil { outcome.noteNo() }
                write(capacity, StorageThresholds().pressure(of: try volume.space()))
            }
        } catch {
            Messages.write(error, at: path)
            outcome.noteFailure()
        }
        try outcome.finish()
    }

    private func write(_ capacity: UsageCapacity?, _ pressure: StoragePressure) {
        var buffer = OutputBuffer()
        if isJSON {
            var line = JSONLine.output()
            line.add(path: path.bytes)
            line.add("volumeTotalCapacity", capacity?.total)
            line.add("volumeAvailableCapacity", capacity?.available)
            line.add("volumeAvailableCapacityForImportantUsage", capacity?.important)
            line.add("volumeAvailableCapacityForOpportunisticUsage", capacity?.opportunistic)
            line.add("pressure", capacity.map { _ in pressure.name })
            line.end(in: &buffer)
        } else if let capacity {
            for (key, value) in [
                ("volumeTotalCapacity", capacity.total),
                ("volumeAvailableCapacity", capacity.available),
                ("volumeAvailableCapacityForImportantUsage", capacity.important),
                ("volumeAvailableCapacityForOpportunisticUsage", capacity.opportunistic),
            ] {
                buffer.append(text: "\(key)=\(value)\n")
            }
            buffer.append(text: "pressure=\(pressure.name)\n")
        }
        buffer.flush()
    }
}
