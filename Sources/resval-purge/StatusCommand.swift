import ArgumentParser
import CommandSupport
import EffectiveValues
import PurgePlanning
import ResourceValues
import StorageManagement
import StoragePolicy
import SystemCalls
import SystemPackage

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how short space is, and how much may be deleted, on each volume.",
        discussion: """
            Looks at the volumes of the home and of the user's own directories for temporary \
            files, caches and application data; with ROOT, at those of the ROOTs. Marked items \
            elsewhere are found only with ROOT, and by watch below its mark-roots.

            EXAMPLES
              resval-purge status
              resval-purge status --json | jq .pressure
            """)

    @Argument(help: "Where to look.")
    var roots: [PathArgument] = []

    @OptionGroup var search: SearchOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup var progress: ProgressOptions

    func run() throws {
        let outcome = Outcome()
        let environment = try PurgeEnvironment(search)
        for volume in volumes(environment, outcome) {
            do {
                try show(volume, environment)
            } catch is CancellationError {
                throw ExitCode(2)
            } catch let error as FileError {
                Messages.write(error)
                outcome.noteFailure()
            }
        }
        if !json, roots.isEmpty {
            var buffer = OutputBuffer()
            buffer.append(
                line: "marked items elsewhere are not counted: name their directory, as in "
                    + "'resval-purge status .', or list it in mark-roots for watch")
            buffer.flush()
        }
        try outcome.finish()
    }

    private struct VolumeRoots {
        let path: FilePath
        let status: FileStatus
        let pool: StoragePool
        var roots: [FilePath]
    }

    /// Returns the volumes, each once, with the roots to search there.
    private func volumes(_ environment: PurgeEnvironment, _ outcome: Outcome) -> [VolumeRoots] {
        var paths: [FilePath] = []
        if let volume = search.volume { paths = [volume.path] }
        if !roots.isEmpty {
            paths += roots.map(\.path)
        } else if search.volume == nil {
            let environment = environment.environment
            paths += [environment.base.home].compactMap(\.self)
            let locations = environment.locations.locations.filter { $0.kind != .documents }
            // A filesystem that may never answer is not purged.
            paths += locations.map(\.path).filter { !environment.mounts.mayBeSilent($0) }
        }
        var found: [VolumeRoots] = []
        for (index, path) in paths.enumerated() {
            do {
                let isRoot = !roots.isEmpty && index >= paths.count - roots.count
                let real = try isRoot ? NamedItem(at: path).path : realPath(of: path)
                let status = try real.status()
                let pool = try StoragePool(of: real)
                if let same = found.firstIndex(where: { $0.pool == pool }) {
                    if isRoot { found[same].roots.append(real) }
                } else {
                    found.append(
                        VolumeRoots(
                            path: real, status: status, pool: pool, roots: isRoot ? [real] : []))
                }
            } catch let error as FileError {
                // A location that does not exist contains nothing.
                guard !roots.isEmpty || error.code != .noSuchFile else { continue }
                Messages.write(error)
                outcome.noteFailure()
            } catch {
                Messages.write(about: path.bytes, "\(error)")
                outcome.noteFailure()
            }
        }
        return found
    }

    private func show(_ volume: VolumeRoots, _ environment: PurgeEnvironment) throws {
        let space = try StorageSpace(at: volume.path)
        let pressure = StorageThresholds().pressure(of: space)
        let display = progress.begin(counting: "items examined")
        let search = environment.search(volume.roots, space, display)
        var state = VolumeState(
            path: volume.path, filesystem: Volume(holding: volume.status)?.mount.filesystemType,
            pressure: pressure, space: space)
        let kept = KeptItems(.lines, isListed: false)
        do {
            // Nothing is printed beside the progress line.
            defer { display.end() }
            let (plan, found) = try search.plan(freeing: PurgeAmount(), on: volume.path) {
                kept.note($0, $1)
            }
            state.kept = kept.counts
            state.totals = found.totals
            record(found.totals.certainBytes, plan)
        } catch let error as FileError where error.code == .unsupportedFilesystem {
            state.unavailable = error.message
        }
        kept.finish()
        state.write(isJSON: json)
    }
}

struct VolumeState {
    let path: FilePath
    let filesystem: String?
    let pressure: StoragePressure
    let space: StorageSpace
    /// The units that may be deleted; nil where nothing is ever deleted.
    var totals: PurgeTotals?
    /// What is kept: units that are too young would count if they were older.
    var kept = KeptCounts()
    /// Why nothing is ever deleted; nil where units may be deleted.
    var unavailable: String?

    func write(isJSON: Bool) {
        var buffer = OutputBuffer()
        isJSON ? writeJSON(&buffer) : writeLines(&buffer)
        buffer.flush()
    }

    private func writeLines(_ buffer: inout OutputBuffer) {
        let amounts = [
            space.bytes.map { "\(sizeText($0.available)) of \(sizeText($0.total))" },
            space.inodes.map { "\($0.available) of \(counted($0.total, "inode"))" },
        ].compactMap(\.self)
        let available = amounts.isEmpty ? "" : ", \(amounts.joined(separator: " and ")) available"
        buffer.append(
            line: "\(NameEscaping.text(path.bytes)) (\(filesystem ?? "unknown filesystem")): "
                + pressure.name + available)
        if let unavailable { buffer.append(line: "  \(unavailable)") }
        guard let totals else { return }
        for purgeClass in PurgeClass.allCases {
            let count = totals.count(of: purgeClass)
            buffer.append(
                text: "  \(purgeClass.name): \(counted(count, "path")), "
                    + "\(sizeText(totals.bytes(of: purgeClass)))\n")
        }
        guard kept.tooYoung > 0 else { return }
        buffer.append(
            line: "  too young: \(counted(kept.tooYoung, "path")), used or changed "
                + "\(kept.tooYoungSentence) (--min-age 0 counts them)")
    }

    private func writeJSON(_ buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add(path: path.bytes)
        line.add("filesystem", filesystem)
        line.add("pressure", pressure.name)
        line.add("volumeTotalCapacity", space.bytes?.total)
        line.add("volumeAvailableCapacity", space.bytes?.available)
        line.add("totalInodes", space.inodes?.total)
        line.add("availableInodes", space.inodes?.available)
        line.add("purgeableBytes", totals?.bytes)
        line.add("classes", objects: totals == nil ? [] : PurgeClass.allCases) { kind, line in
            line.add("class", kind.name)
            line.add("units", totals?.count(of: kind))
            line.add("bytes", totals?.bytes(of: kind))
        }
        line.add("tooYoungUnits", kept.tooYoung)
        line.add("unavailable", unavailable)
        line.end(in: &buffer)
    }
}
