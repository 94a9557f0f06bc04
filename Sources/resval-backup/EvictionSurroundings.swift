import BackupEngines
import BackupPlanning
import CommandSupport
import EffectiveValues
import Eviction
import ResourceValues
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
///
/// - Throws: `FileError` when the user's own journal cannot be read; trouble with others is reported.
func evictedIndex(in environment: PolicyEnvironment) throws(FileError) -> EvictedIndex {
    let own = environment.base.stateHome?.path
    var index = try EvictedIndex(own.map { [Journal(stateHome: $0)] } ?? [])
    if effectiveUser() == 0 {
        for home in Set(environment.base.homes.map { $0.appending(".local/state") })
        where home != own {
            do throws(FileError) {
                try index.add(Journal(stateHome: home))
            } catch  where error.code == .changed || error.code == .notADirectory {
                // The home of an account that is none, such as /dev/null.
            } catch {
                Messages.warn(about: error.path?.bytes, error.description)
            }
        }
    }
    for trouble in index.unreadable {
        Messages.warn(about: trouble.path?.bytes, trouble.description)
    }
    return index
}

/// Files that were evicted since a plan was made: whoever may read everything has stored zeros for their
/// content.
func evictedMeanwhile(_ plan: BackupPlan) throws -> [Shortfall] {
    let index = try evictedIndex(in: .current())
    let leftOut = Set(plan.exclusions.lazy.map(\.path))
    return index.records.filter { record in
        guard plan.sources.contains(where: { record.path.starts(with: $0) }),
            !leftOut.contains(record.path)
        else { return false }
        do throws(Errno) {
            let location = record.path.withoutFollowing
            return index.placeholder(location, try location.status(), at: record.path) != nil
        } catch {
            // Nothing is there.
            return false
        }
    }.map { Shortfall(path: $0.path.bytes, cause: .changed) }
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
