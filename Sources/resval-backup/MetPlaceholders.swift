import ArgumentParser
import BackupEngines
import BackupPlanning
import CommandSupport
import EffectiveValues
import Eviction
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Returns the journal of the user who runs the program.
///
/// - Throws: `FileError` when neither `$XDG_STATE_HOME` nor a home is known.
func ownJournal(in environment: PolicyEnvironment) throws -> Journal {
    guard let state = environment.base.stateHome else {
        throw FileError(
            code: .other, message: "there is no directory for the journal of evicted files",
            advice: "set HOME or XDG_STATE_HOME")
    }
    return Journal(stateHome: state.path)
}

/// The handling of placeholders in a backup's SOURCEs.
struct MetPlaceholders {
    /// The repository options of the command.
    private let options: RepositoryOptions
    /// Whether the named repository, if any, is the backup's.
    private let isForRepository: Bool
    /// Whether files whose content the repository does not keep are downloaded.
    private let downloadsMissing: Bool
    private let journal: Journal?

    init(
        _ options: RepositoryOptions, isForRepository: Bool = true, downloadsMissing: Bool = false
    ) {
        self.options = options
        self.isForRepository = isForRepository
        self.downloadsMissing = downloadsMissing
        journal = currentBaseDirectories().stateHome.map { Journal(stateHome: $0.path) }
    }

    /// Makes a plan and notes which placeholders' content the repository does not keep. Placeholders of
    /// older versions get their record first.
    ///
    /// - Parameters:
    ///   - isShownOnly: whether the plan is only shown and not for a backup. Placeholders are then missing
    ///     in it only where a repository is named, and those of older versions are named and stay as they
    ///     are.
    ///   - plan: the key path of the plan in the result of `makePlan`.
    ///   - makePlan: makes a plan; called again when files were changed.
    func settle<Planned>(
        isShownOnly: Bool = false, _ plan: WritableKeyPath<Planned, BackupPlan>,
        _ makePlan: () throws -> Planned
    ) async throws -> Planned {
        if !isShownOnly, let journal { try await takeOver(oldFiles(journal), journal) }
        var planned = try makePlan()
        let unrecorded = planned[keyPath: plan].notices.filter(\.isUnrecorded).map(\.path)
        if isShownOnly {
            for path in unrecorded where try journal?.unrecorded(at: path) != nil {
                Messages.warn(
                    about: path.bytes,
                    "was evicted by an older version: create writes its record on it, and then "
                        + "excludes it")
            }
        } else if let journal, try await takeOver(unrecorded, journal) {
            planned = try makePlan()
        }
        try await noteMissing(in: &planned[keyPath: plan], !isShownOnly)
        let missing = planned[keyPath: plan].notices.filter(\.isMissing).map(\.path)
        guard downloadsMissing, !missing.isEmpty, let journal else { return planned }
        let report = EvictionReport(.downloading, isJSON: false, isSilent: true, failures: 0)
        do {
            try await download(missing, journal, options, report)
        } catch is ExitCode where !StopRequest.isMade {
            // The second plan names the files that could not be downloaded as missing.
        }
        planned = try makePlan()
        try await noteMissing(in: &planned[keyPath: plan], true)
        return planned
    }

    private func oldFiles(_ journal: Journal) -> [FilePath] {
        do throws(FileError) {
            return try journal.contents().files.filter { $0.state == .evicted }.map(\.path)
        } catch {
            Messages.warn(about: error.path?.bytes, error.description)
            return []
        }
    }

    private func noteMissing(in plan: inout BackupPlan, _ isBackup: Bool) async throws {
        if isForRepository, try options.location() != nil {
            try await options.engine().noteMissing(in: &plan)
        } else if isBackup {
            plan.noteMissing { _ in false }
        }
    }

    /// Writes the records on placeholders of older versions, each from the repository that keeps its
    /// content.
    ///
    /// - Returns: whether any record was written. A file that gets none is reported.
    @discardableResult
    func takeOver(_ files: [FilePath], _ journal: Journal) async throws -> Bool {
        var groups: [[UInt8]: [(known: EvictedFile, path: FilePath)]] = [:]
        for file in files {
            do throws(FileError) {
                guard let known = try journal.unrecorded(at: file) else { continue }
                groups[known.repository, default: []].append((known, file))
            } catch {
                Messages.warn(about: file.bytes, error.description)
            }
        }
        var isDone = false
        for (repository, group) in groups {
            let refused: [(path: FilePath, reason: String)]
            do {
                refused = try await takeOver(group, from: repository, journal)
            } catch let error as BackupError where error.code != .interrupted {
                refused = group.map { ($0.path, "\(error)") }
            }
            for (path, reason) in refused {
                Messages.warn(
                    about: path.bytes,
                    "is evicted, and its record cannot be written on it: \(reason)")
            }
            if refused.count < group.count { isDone = true }
        }
        return isDone
    }

    private func takeOver(
        _ files: [(known: EvictedFile, path: FilePath)], from repository: [UInt8],
        _ journal: Journal
    ) async throws -> [(path: FilePath, reason: String)] {
        var own = options
        own.repository = PathArgument(bytes: repository)
        do {
            return try await own.holder().takeOver(files, in: journal)
        } catch let error as BackupError where error.code != .interrupted {
            // The repository may have been moved to the named location.
            guard try options.location() != nil else { throw error }
            return try await options.holder().takeOver(files, in: journal)
        }
    }
}

extension PlanNotice {
    fileprivate var isUnrecorded: Bool {
        guard case .eviction(.unrecorded, _) = matter else { return false }
        return true
    }

    fileprivate var isMissing: Bool {
        guard case .missing = matter else { return false }
        return true
    }
}

/// Returns what is never evicted: the repository and its password file, and the directories of
/// settings, keys and state.
///
/// - Throws: as ``RepositoryOptions/access()`` does.
func neededPlaces(
    _ options: RepositoryOptions, in environment: PolicyEnvironment
) throws -> NeededPlaces {
    var places = NeededPlaces()
    let access = try options.access()
    if let directory = access?.location.directory { places.add(directory, "the repository") }
    if let file = access?.passwordFile { places.add(file, "the repository's password") }
    if let config = options.configuration.config { places.add(config.path, "the configuration") }
    let base = environment.base
    if let state = base.stateHome { places.add(state.path, "in the directory of state") }
    if let settings = base.configurationHome {
        places.add(settings.path, "in the directory of settings")
    }
    for home in base.homes {
        places.add(home.appending(".ssh"), "in the directory of SSH keys")
        places.add(home.appending(".gnupg"), "in the directory of GnuPG keys")
    }
    return places
}

/// The option for evicted files whose content a backup's repository does not keep.
struct WithEvictedOption: ParsableArguments {
    @Flag(
        help: """
            First download evicted files whose content the backup's repository does not keep. \
            Without it, they are named and the exit code is 3.
            """)
    var withEvicted = false
}
