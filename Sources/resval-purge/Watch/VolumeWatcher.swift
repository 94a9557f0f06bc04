import CommandSupport
import EffectiveValues
import PurgePlanning
import ResourceValues
import StorageManagement
import StoragePolicy
import SystemCalls
import SystemPackage

/// Keeps volumes above their thresholds: measures, purges, logs, and sleeps.
final class VolumeWatcher {
    private struct Watched {
        let path: FilePath
        var watch: VolumeWatch
        /// Where the volume was mounted when it was last measured; nil before.
        var mountPoint: FilePath?
        /// Whether the last measurement failed, which is logged once.
        var isUnreachable = false
        var effect = PurgeEffect()
    }

    private let interval = PollingInterval()
    private let log: ServiceLog
    private let notifier: ServiceNotifier
    private let watchdog: Watchdog
    private let settings: WatchSettings
    private var volumes: [Watched]
    private var sentStatus = ""
    private(set) var hasFailures = false

    /// Creates a watcher.
    ///
    /// - Parameters:
    ///   - settings: what is watched, and how.
    ///   - notifier: the notifier for the service manager.
    ///   - log: the log of what is done.
    init(_ settings: WatchSettings, _ notifier: ServiceNotifier, _ log: ServiceLog) {
        self.settings = settings
        self.notifier = notifier
        self.log = log
        watchdog = Watchdog(notifier)
        volumes = settings.volumes.map {
            Watched(path: $0, watch: VolumeWatch(settings.thresholds))
        }
        warn()
    }

    /// The locations and protected directories of this moment: while a watch runs, a directory may
    /// become one for documents, or be mounted over.
    private var environment: PolicyEnvironment { .current(named: settings.locations) }

    /// Whether any volume is below the `low` threshold, or cannot be measured.
    var isShort: Bool { volumes.indices.contains { !isRelieved($0) } }

    /// Measures each volume once, and purges where space is short.
    ///
    /// - Returns: how long to wait before the next measurement.
    @discardableResult
    private func lookOnce() -> Duration {
        var wait = interval.longest
        for index in volumes.indices where !StopRequest.isMade {
            wait = min(wait, look(at: index))
        }
        tellStatus()
        return wait
    }

    /// Finishes the leftovers of an interrupted purge, then measures each volume once, and purges
    /// where space is short.
    func runOnce() {
        prepare()
        lookOnce()
        if isShort { adviseOnMarks() }
    }

    func run() {
        adviseOnMarks()
        // Finishing leftovers may take longer than the manager allows for a start.
        notify("READY=1")
        prepare()
        while !StopRequest.isMade { sleepUntilNextLook(lookOnce()) }
        notify("STOPPING=1")
    }
}

extension VolumeWatcher {
    /// Finishes the leftovers of an interrupted purge, and reserves space for the journal of the
    /// next one while there is room.
    private func prepare() {
        var report = PurgeReport(log)
        do {
            var search = UnitSearch(environment)
            search.protected = settings.protected
            search.isAlone = settings.isAlone
            try PurgeExecutor(search).finishLeftovers { report.note($0) }
        } catch let refusal as PurgeRefusal {
            log.write(.warning, "cannot prepare to purge: \(refusal.sentence)")
        } catch {
            log.write(
                .warning, about: (error as? FileError)?.path?.bytes,
                "cannot prepare to purge: \(error)")
        }
        if report.hasFailures { hasFailures = true }
    }

    private func warn() {
        if !settings.isAlone, let warning = unseenProcessesWarning() {
            log.write(.warning, "\(warning): set alone = true if none does")
        }
        for warning in environment.warnings {
            log.write(.warning, about: warning.subject?.bytes, warning.sentence)
        }
    }

    /// Tells where marks have no effect although `plan` and `run` act on them: in the directories for
    /// application data that are below none of `mark-roots`. Not told each time a timer runs the
    /// command, unless space is short.
    private func adviseOnMarks() {
        let environment = environment
        for location in environment.locations.locations
        where location.kind == .applicationSupport
            && environment.localStatus(of: location.path) != nil
            && !settings.markRoots.contains(where: { location.path.isHeld(by: $0) })
        {
            log.write(
                .notice, about: location.path.bytes,
                "items marked purgeable in it are deleted only below mark-roots: name it there to "
                    + "have them deleted")
        }
    }

    private func look(at index: Int) -> Duration {
        watchdog.tell()
        let path = volumes[index].path
        do throws(FileError) {
            let space = try space(at: index)
            volumes[index].isUnreachable = false
            let before = volumes[index].watch.pressure
            let action = volumes[index].watch.action(for: space, at: timeSinceBoot())
            tellChange(from: before, at: volumes[index])
            switch action {
            case .wait(let wait): return wait
            case .purge(let goal):
                let result = purge(at: index, goal)
                volumes[index].watch.note(result, at: timeSinceBoot())
                return interval.shortest
            }
        } catch {
            if !volumes[index].isUnreachable {
                log.write(.error, about: path.bytes, "cannot be watched: \(error)")
            }
            hasFailures = true
            volumes[index].isUnreachable = true
            return interval.longest
        }
    }

    private func purge(at index: Int, _ goal: PurgeGoal) -> VolumeWatch.Result {
        let path = volumes[index].path
        var report = PurgeReport(log)
        var result = VolumeWatch.Result.fruitless
        do {
            let outcome = try purge(on: path, towards: goal, &report)
            if outcome.removedUnits == 0 {
                result = .nothingDeleted
            } else if volumes[index].effect.hasHelped(outcome) {
                result = .helpful
            }
        } catch is CancellationError {
            return .fruitless
        } catch let refusal as PurgeRefusal {
            log.write(.warning, about: path.bytes, "does not purge: \(refusal.sentence)")
            // The other purge may help.
            if refusal == .anotherIsAtWork { result = .helpful }
        } catch {
            let errorPath = (error as? FileError)?.path ?? path
            log.write(.error, about: errorPath.bytes, "cannot purge: \(error)")
            hasFailures = true
        }
        if report.hasFailures { hasFailures = true }
        if isRelieved(index) {
            volumes[index].effect = PurgeEffect()
            return .helpful
        }
        return result
    }

    /// Deletes what frees enough, or nothing where that is not possible.
    ///
    /// - Throws: `FileError`, `PurgeRefusal`, and `CancellationError` when a stop ended the search.
    private func purge(
        on volume: FilePath, towards goal: PurgeGoal, _ report: inout PurgeReport
    ) throws -> PurgeOutcome {
        let search = try search(on: volume, for: goal)
        var purgeable = PurgeAmount()
        if !search.roots.isEmpty {
            let now = FileTime.now
            let kept = KeptItems(.lines, isListed: false)
            let (plan, found) = try search.plan(freeing: goal.wanted, on: volume, now: now) {
                kept.note($0, $1)
            }
            kept.finish(log)
            remember(found.totals.certainBytes, plan)
            if goal.isPartial || goal.needed.isReached(by: plan.amount) {
                var executor = PurgeExecutor(search)
                executor.goesOn = found.isTruncated
                executor.shouldStop = search.shouldStop
                let outcome = try executor.execute(plan, now: now) { report.note($0) }
                remember(found.totals.certainBytes - outcome.certainBytes, plan)
                report.finish(outcome, on: volume, wanted: goal.wanted)
                return outcome
            }
            purgeable = PurgeAmount(bytes: found.totals.bytes, inodes: plan.amount.inodes)
        }
        log.write(
            .warning, about: volume.bytes,
            "nothing is deleted: only \(purgeable.text(for: goal.needed)) of the "
                + "\(goal.needed.text()) needed can be freed")
        return PurgeOutcome()
    }

    private func search(on volume: FilePath, for goal: PurgeGoal) throws(FileError) -> UnitSearch {
        let environment = environment
        var search = UnitSearch(environment)
        search.roots = try roots(on: volume, in: environment)
        search.minimumAge = settings.minimumAge
        search.smallest = settings.smallest
        search.isAlone = settings.isAlone
        search.protected = settings.protected
        search.markRoots = settings.markRoots
        search.pressure = goal.isPartial ? .critical : .low
        search.countsInodes = goal.wanted.inodes > 0
        search.shouldStop = { [watchdog] in
            watchdog.tell()
            return StopRequest.isMade
        }
        return search
    }

    /// Returns the search roots: the locations for temporary files and caches on the volume, and
    /// the directories below which marks count.
    private func roots(
        on volume: FilePath, in environment: PolicyEnvironment
    ) throws(FileError) -> [FilePath] {
        let pool = try calls(on: volume) { () throws(Errno) in try StoragePool(of: volume) }
        let locations = environment.locations.locations.filter { !$0.kind.isBackedUp }
        return (locations.map(\.path) + settings.markRoots).filter { root in
            // A directory that does not exist, or cannot be reached safely, contains nothing to delete.
            guard environment.localStatus(of: root) != nil, let item = try? NamedItem(at: root)
            else { return false }
            return (try? StoragePool(of: item.path)) == pool
        }
    }

    /// Records how many bytes purging could free. A failure is ignored: without the record no
    /// program relies on that space, and on a full disk the purge is needed all the more.
    private func remember(_ bytes: Int64, _ plan: PurgePlan) {
        try? PurgeRecords.current?.write(bytes, of: plan)
    }

    /// Measures the space on a volume. Remote and FUSE filesystems are never purged, and measuring
    /// one could block for ever.
    ///
    /// - Throws: `FileError`, also where the volume was unmounted, or is not mounted although fstab(5)
    ///   names it: what is found at the path is then on another volume.
    private func space(at index: Int) throws(FileError) -> StorageSpace {
        let path = volumes[index].path
        let mounts = try MountTable.current()
        if let real = realPath(of: path, notBeyond: mounts), !mounts.isRemote(real) {
            let mountPoint = mounts.mount(holding: real)?.mountPoint
            if let missing = missingMountPoint(of: volumes[index], real, below: mountPoint) {
                throw FileError(
                    code: .other,
                    message: "\(NameEscaping.text(missing.bytes)) is not mounted, so what is there "
                        + "is on another volume",
                    advice: "mount it, or take it out of volumes", path: path)
            }
            let space = try StorageSpace(at: real)
            volumes[index].mountPoint = mountPoint
            return space
        }
        guard mounts.remoteMountPoints.isEmpty else {
            throw FileError(
                code: .unsupportedFilesystem,
                message: "does not exist, or is not on a local filesystem",
                advice: "name volumes that can be purged", path: path)
        }
        return try StorageSpace(at: path)
    }

    /// Returns the mount point that a volume lies below, where nothing is mounted now; nil when there
    /// is none.
    ///
    /// - Parameters:
    ///   - real: the volume's real path.
    ///   - current: the mount point of the filesystem that holds it now.
    private func missingMountPoint(
        of volume: Watched, _ real: FilePath, below current: FilePath?
    ) -> FilePath? {
        guard let current else { return nil }
        // A machine without the file has no mount points of its own choice.
        let configured = (try? contentsOfFile("/etc/fstab")).map(mountPoints(inFstab:)) ?? []
        return ([volume.mountPoint].compactMap(\.self) + configured).first { point in
            point != current && point.isHeld(by: current) && real.isHeld(by: point)
        }
    }

    /// Whether the `low` threshold is available again, whatever the cause.
    private func isRelieved(_ index: Int) -> Bool {
        guard let space = try? space(at: index) else { return false }
        return settings.thresholds.pressure(of: space) == .normal
    }

    private func sleepUntilNextLook(_ wait: Duration) {
        let end = timeSinceBoot() + wait
        while true {
            watchdog.tell()
            let rest = end - timeSinceBoot()
            guard rest > .zero, !StopRequest.isMade else { return }
            sleep(for: min(rest, watchdog.longestSleep)) { StopRequest.isMade }
        }
    }
}

// Logging and status.

extension VolumeWatcher {
    private func tellChange(from before: StoragePressure?, at volume: Watched) {
        guard let now = volume.watch.pressure, now != before else { return }
        log.write(
            now == .normal ? .notice : .warning, about: volume.path.bytes,
            "pressure is \(now.name)")
    }

    private func tellStatus() {
        let states = volumes.map { volume in
            let pressure = volume.isUnreachable ? nil : volume.watch.pressure?.name
            return "\(volume.path.string): \(pressure ?? "cannot be watched")"
        }
        let status = String(states.joined(separator: ", ").map { $0.isNewline ? " " : $0 })
        guard status != sentStatus else { return }
        sentStatus = status
        notify("STATUS=\(status)")
    }

    private func notify(_ assignment: String) {
        do throws(Errno) {
            try notifier.send(assignment)
        } catch {
            log.write(.warning, "cannot notify the service manager: \(error)")
        }
    }
}
