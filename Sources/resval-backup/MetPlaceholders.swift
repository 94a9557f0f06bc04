import ArgumentParser
import BackupPlanning
import Backups
import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Returns the directory of locks and repositories' locations of the user who runs the program.
///
/// - Throws: `FileError` when neither `$XDG_STATE_HOME` nor a home is known.
func ownEvictionDirectory(
    in environment: PolicyEnvironment
) throws -> EvictionDirectory {
    guard let state = environment.base.stateHome else {
        throw FileError(
            code: .other, message: "there is no directory for the locks of evicted files",
            advice: "set HOME or XDG_STATE_HOME")
    }
    return EvictionDirectory(stateHome: state.path)
}

/// The handling of placeholders in a backup's SOURCEs.
struct MetPlaceholders {
    /// The repository options of the command.
    private let options: RepositoryOptions
    /// Whether the named repository, if any, is the backup's.
    private let isForRepository: Bool

    init(_ options: RepositoryOptions, isForRepository: Bool = true) {
        self.options = options
        self.isForRepository = isForRepository
    }

    /// Makes a plan and notes which placeholders' content the repository does not keep.
    ///
    /// - Parameters:
    ///   - isShownOnly: whether the plan is only shown and not for a backup. Placeholders are then missing
    ///     in it only where a repository is named.
    ///   - plan: the key path of the plan in the result of `makePlan`.
    ///   - makePlan: makes a plan.
    func settle<Planned>(
        isShownOnly: Bool = false, _ plan: WritableKeyPath<Planned, BackupPlan>,
        _ makePlan: () throws -> Planned
    ) async throws -> Planned {
        var planned = try makePlan()
        try await noteMissing(in: &planned[keyPath: plan], !isShownOnly)
        return planned
    }

    private func noteMissing(in plan: inout BackupPlan, _ isBackup: Bool) async throws {
        if isForRepository, try options.location() != nil {
            try await options.engine().noteMissing(in: &plan)
        } else if isBackup {
            plan.noteMissing { _ in false }
        }
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
