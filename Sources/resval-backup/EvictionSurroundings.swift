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
/// - Throws: `FileError` when the user's own journal cannot be read, or is not that user's alone;
///   trouble with others is reported.
func evictedIndex(in environment: PolicyEnvironment) throws(FileError) -> EvictedIndex {
    let own = environment.base.stateHome?.path
    var index = try EvictedIndex(own.map { [Journal(stateHome: $0)] } ?? [])
    let user = effectiveUser()
    if user == 0 {
        // Root's own files are never known by another home.
        for account in Set(environment.base.accounts) where account.user != user {
            if environment.mounts.mayBeSilent(account.home) {
                Messages.warn(
                    about: account.home.bytes,
                    "is not on a local filesystem: its evicted files are not known")
                continue
            }
            do throws(FileError) {
                index.add(try Journal.contents(below: account.home, ownedBy: account.user))
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

extension EvictedIndex {
    /// Looks which of the snapshots exist that the records name.
    ///
    /// All of them are looked for in the backup's repository. Those of the user's own files are then
    /// looked for where the journal says; what another user's journal says leads nowhere.
    ///
    /// - Parameter repository: the backup's.
    /// - Throws: `ExitCode` when the command is to stop.
    mutating func findHolds(_ repository: RepositoryOptions) async throws {
        foundHolds = try await running { [self] in
            let user = effectiveUser()
            let here = try await holdTags(in: repository)
            var found = holds { _ in true }.filter { here.contains($0.tag) }
            let missing = holds { $0 == user }.subtracting(found)
            for (location, holds) in Dictionary(grouping: missing, by: \.repository) {
                var options = repository
                options.repository = PathArgument(bytes: location)
                let tags = try await holdTags(in: options)
                found.formUnion(holds.filter { tags.contains($0.tag) })
            }
            return found
        }
    }
}

/// The tags of the snapshots that hold evicted files; none where a repository cannot be asked, since
/// what is not found is reported with each file.
private func holdTags(in repository: RepositoryOptions) async throws -> Set<String> {
    do {
        let snapshots = try await repository.engine().snapshots(SnapshotFilter())
        return Set(snapshots.filter(\.isHeld).flatMap(\.allTags))
    } catch let error as BackupError where error.code == .interrupted {
        throw error
    } catch {
        Messages.warn(
            about: nil,
            "a repository with the content of evicted files cannot be read, so they count as not "
                + "found: \(error)")
        return []
    }
}

/// Files that were evicted since a plan was made: whoever may read everything has stored zeros for their
/// content.
func evictedMeanwhile(_ plan: BackupPlan) throws -> [Shortfall] {
    let index = try evictedIndex(in: .current())
    // What the plan reports is known.
    let leftOut = Set(plan.exclusions.lazy.map(\.path)).union(plan.notices.lazy.map(\.path))
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
