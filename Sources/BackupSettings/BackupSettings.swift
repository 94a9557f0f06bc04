import CommandSupport
import StoragePolicy
import SystemCalls
import SystemPackage

/// What the configuration file says about the backup that is made every day.
package struct BackupSettings: Sendable, Hashable {
    /// The directories and files to back up, absolute.
    package var sources: [FilePath] = []
    /// The repository, in the words of `--repository`.
    package var repository = ""
    /// What opens the repository.
    package var password = Password.environment
    /// The marks that exclude; nil for the default set.
    package var markers: [Marker]?
    /// Whether temporary and caches directories are left out.
    package var usesLocations = true
    /// The size above which files are left out; nil for none.
    package var largestFile: ByteSize?
    /// The tags of each snapshot.
    package var tags: [String] = []
    /// Whether files with a protection class may go into an archive that anybody can read.
    package var allowsPlaintext = false
    /// Which snapshots are kept; empty when none is ever removed.
    package var retention: [RetentionSetting] = []
    /// How often data that no snapshot needs is removed.
    package var prune = Interval.never
    /// How often the repository is checked.
    package var verify = Interval.days(7)
    /// Whether checking reads all data.
    package var verifyReadsData = false
    /// The age, in seconds, from which on the last backup is too old to rely on; nil for none.
    package var staleAfter: Int64? = defaultStaleAge

    /// Three intervals of the installed timers, which start a run every day.
    package static let defaultStaleAge: Int64 = 3 * 86400

    /// What opens the repository.
    package enum Password: Sendable, Hashable {
        /// `$RESTIC_PASSWORD_FILE`, `$RESTIC_PASSWORD_COMMAND` or `$RESTIC_PASSWORD`.
        case environment
        /// The password itself.
        case text(String)
        /// A file that holds it.
        case file(FilePath)
        /// A command that prints it.
        case command(String)
    }
}

/// One rule of retention: an option of `forget` without its dashes, and its value.
package struct RetentionSetting: Sendable, Hashable {
    /// The option, such as `keep-daily`.
    package let name: String
    /// The value as the option takes it.
    package let value: String
}

/// How often something is done.
package enum Interval: Sendable, Hashable {
    /// Not at all.
    case never
    /// Once in so many days, at least 1.
    case days(Int)

    /// Whether it is time again.
    ///
    /// - Parameters:
    ///   - last: when it was done last, in seconds since 1970; nil when it never was.
    ///   - now: the time now. A clock that was set back makes it due.
    package func isDue(last: Int64?, now: Int64) -> Bool {
        guard case .days(let days) = self else { return false }
        guard let last, last <= now else { return true }
        // A timer does not fire at the very same second each day.
        let slack: Int64 = 3600
        return now.subtractingSaturating(last)
            >= Int64(days).multipliedSaturating(by: 86400) - slack
    }
}
