import BackupEngines
import CommandSupport
import EffectiveValues
import Eviction
import StoragePolicy
import SystemCalls
import SystemPackage

/// The journal of the user who runs this.
///
/// - Throws: `FileError` when neither `$XDG_STATE_HOME` nor a home is known.
func ownJournal(in environment: PolicyEnvironment) throws -> Journal {
    guard let state = environment.base.stateHome else {
        throw FileError(
            code: .other, message: "there is no place for the journal of evicted files",
            advice: "set HOME or XDG_STATE_HOME")
    }
    return Journal(stateHome: state.path)
}

/// The placeholders that a backup by this user may meet: root's backups meet everybody's.
func evictedIndex(in environment: PolicyEnvironment) throws(FileError) -> EvictedIndex {
    var states = Set<FilePath>()
    if let own = environment.base.stateHome { states.insert(own.path) }
    if effectiveUser() == 0 {
        for home in environment.base.homes { states.insert(home.appending(".local/state")) }
    }
    let index = try EvictedIndex(states.map { Journal(stateHome: $0) })
    for trouble in index.unreadable {
        Messages.warn(about: trouble.path?.bytes, trouble.description)
    }
    return index
}

/// What is never evicted: the repository and what opens it, and where programs keep their settings,
/// keys and state.
func neededPlaces(
    _ options: RepositoryOptions, in environment: PolicyEnvironment
) -> NeededPlaces {
    var places = NeededPlaces()
    if let directory = options.location?.directory { places.add(directory, "the repository") }
    if let file = options.passwordFile?.bytes ?? environmentValue("RESTIC_PASSWORD_FILE") {
        places.add(FilePath(bytes: file), "the repository's password")
    }
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
