import ArgumentParser
import CommandSupport
import EffectiveValues
import PurgePlanning
import ResourceValues
import StorageManagement
import StoragePolicy
import SystemCalls
import SystemPackage

/// The locations and protected directories from this machine, its settings and the command line.
struct PurgeEnvironment {
    let environment: PolicyEnvironment
    private let options: SearchOptions
    private let scope: ScopeOptions?

    /// - Parameter scope: nil for the user's own directories and items.
    /// - Throws: exit code 64, after a message, when a directory given with `--cache` is refused.
    init(_ options: SearchOptions, _ scope: ScopeOptions? = nil) throws {
        (self.options, self.scope) = (options, scope)
        for path in scope?.protected ?? [] where (try? path.path.withoutFollowing.status()) == nil {
            Messages.warn(about: path.bytes, "is a protected directory, and cannot be found")
        }
        let caches = (scope?.caches ?? []).map {
            StorageLocation(kind: .caches, path: absolute($0.path))
        }
        environment = PolicyEnvironment.current(named: caches)
        let refusals = environment.locations.refusals
        for warning in environment.warnings where !refusals.contains(warning) {
            Messages.warn(about: warning.subject?.bytes, warning.sentence)
        }
        if !options.alone, let warning = unseenProcessesWarning() {
            Messages.warn("\(warning): give --alone if none does")
        }
        for refusal in refusals { Messages.write(about: refusal.subject?.bytes, refusal.sentence) }
        if !refusals.isEmpty { throw ExitCode(64) }
    }

    /// Returns a path on the filesystem that is meant.
    ///
    /// - Throws: ``FileError`` when no option and no root is given and no home is known.
    func volume(_ roots: [FilePath]) throws(FileError) -> FilePath {
        if let volume = options.volume { return try realPath(of: volume.path) }
        if let root = roots.first { return root }
        guard let home = environment.base.home else {
            throw FileError(
                code: .other, message: "no home is known", advice: "give --volume or a ROOT")
        }
        return home
    }

    /// Whether the ages of what lies on a volume are those of the last change, since reading is not
    /// recorded there: this is said once, and where it is recorded too late for the ages that are asked for.
    func showsChanges(on volume: FilePath, in search: UnitSearch) -> Bool {
        let mount = environment.mounts.mount(holding: volume)
        guard mount?.leavesAccessTimes == true else {
            let age = search.minimumAge ?? (search.pressure == .critical ? 6 * 3600 : 0)
            if mount?.delaysAccessTimes == true, 0 < age, age < 24 * 3600 {
                Messages.warn(
                    about: volume.bytes,
                    "is mounted with relatime: what was read in the last 24 hours may count as older"
                )
            }
            return false
        }
        Messages.warn(
            about: volume.bytes,
            "is mounted with noatime: what is only read looks unused, and its age is that of the "
                + "last change")
        return true
    }

    /// Creates a search from the options.
    ///
    /// - Parameters:
    ///   - space: the space on the volume. Any pressure below critical counts as low, since space was
    ///     requested.
    ///   - progress: counts the items examined. Both are nil for a search that is not walked.
    func search(
        _ roots: [FilePath], _ space: StorageSpace?, _ progress: Progress? = nil
    ) -> UnitSearch {
        let thresholds = StorageThresholds()
        var search = UnitSearch(environment)
        search.roots = roots
        search.pressure =
            space.map { thresholds.pressure(of: $0) } == .critical ? .critical : .low
        if let smallest = options.smallest { search.smallest = smallest.bytes }
        search.isAlone = options.alone
        if let space { search.countsInodes = thresholds.isShortOfInodes(space) }
        search.minimumAge = options.minAge?.seconds
        if let scope {
            search.includesForeign = scope.allOwners
            search.protected = scope.protected.map { absolute($0.path) }
        }
        search.shouldStop = { StopRequest.isMade }
        if let progress { search.didExamine = { progress.advance(by: $0) } }
        return search
    }
}

/// Returns the warning that directories are kept because not all processes are seen; nil where they
/// are.
func unseenProcessesWarning() -> String? {
    if (try? isInInitialPIDNamespace()) == true { return nil }
    return "directories are kept, because processes outside of this PID namespace may use them"
}

/// Returns the absolute path, without accessing it.
func absolute(_ path: FilePath) -> FilePath {
    path.isAbsolute ? path : (try? workingDirectory().pushing(path)) ?? path
}
