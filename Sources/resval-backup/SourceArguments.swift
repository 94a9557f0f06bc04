import ArgumentParser
import BackupPlanning
import Backups
import CommandSupport
import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

struct SourceArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The directories and files to back up (default: what the configuration describes).",
            valueName: "source"))
    var operands: [PathOperand] = []

    @Option(
        help: ArgumentHelp(
            "Exclude larger files, such as 4G.", valueName: "size"))
    var excludeLargerThan: ByteSize?

    @Option(
        help: ArgumentHelp(
            "Exclude what fits a pattern with gitignore's rules; may be repeated.",
            valueName: "pattern"))
    var exclude: [String] = []

    func validate() throws {
        for text in exclude where Self.pattern(text) == nil {
            throw ValidationError("'\(text)' is not a pattern of gitignore's rules")
        }
    }

    private static func pattern(_ argument: String) -> ExclusionPattern? {
        let bytes = ArgumentBytes.bytes(of: argument)
        return ExclusionPattern(
            String(decoding: bytes, as: UTF8.self), bytes: bytes,
            home: currentBaseDirectories().home)
    }

    /// What the arguments describe or, without a SOURCE, the configuration, to which they add.
    ///
    /// - Throws: `ValidationError` where nothing names a SOURCE.
    func creation(
        _ configuration: ConfigurationOption, _ policy: PolicyOptions, tags: [String] = []
    ) throws -> Creation {
        let sources = operands.paths.map(\.path)
        let patterns = exclude.compactMap { Self.pattern($0) }
        guard sources.isEmpty else {
            return Creation(
                sources: sources, configuration: sourcesFingerprint(sources), policy: policy,
                largestFile: excludeLargerThan, patterns: patterns, tags: tags)
        }
        guard let settings = try configuration.settingsIfAny(), let name = configuration.name else {
            throw ValidationError("give a SOURCE, or begin with: resval-backup setup")
        }
        var creation = Creation(settings, configuration: name)
        creation.policy.markers = policy.markers ?? creation.policy.markers
        creation.policy.ignoresLocations = policy.ignoresLocations || !settings.usesLocations
        creation.largestFile = excludeLargerThan ?? settings.largestFile
        creation.patterns += patterns
        creation.tags += tags
        return creation
    }
}

extension Creation {
    /// - Parameters:
    ///   - repository: is excluded where it is below a SOURCE.
    ///   - display: shows how many items were examined.
    func planner(
        for repository: RepositoryLocation?, showing display: Progress
    ) -> BackupPlanner {
        let environment = PolicyEnvironment.current()
        var planner = BackupPlanner(
            policy: policy.policy(in: environment), mounts: environment.mounts)
        if let identity = repository?.identity { planner.repositories = [identity] }
        planner.ownState = try? StateDirectory.path()
        planner.largestFile = largestFile?.bytes
        planner.patterns = patterns
        planner.didExamine = { display.advance(by: $0) }
        planner.shouldStop = { StopRequest.isMade }
        return planner
    }
}

/// Prints a plan's notices, and the mounts whose content is stored elsewhere, too. They are stored
/// nevertheless: restic keeps equal content once, and what is elsewhere may be excluded there.
func report(_ plan: BackupPlan, _ mounts: MountTable) {
    report(plan.notices)
    for path in RepeatedMounts(mounts, below: plan.sources).repeatedPaths
    where !plan.exclusions.contains(where: { path.isHeld(by: $0.path) }) {
        Messages.warn(
            about: path.bytes,
            "shows what is elsewhere below the SOURCEs, too, and both are stored (to exclude it, name "
                + "it in exclude of backup.toml: a mark would exclude both)")
    }
}

/// Prints a plan's notices: shortfalls as errors, the others as warnings.
func report(_ notices: [PlanNotice]) {
    for notice in notices {
        if notice.isShortfall {
            Messages.write(about: notice.path.bytes, Advice.completed(notice.sentence))
        } else {
            Messages.warn(about: notice.path.bytes, notice.sentence)
        }
    }
}
