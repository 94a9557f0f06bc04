import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import ResourceValues
import SettingsReading
import StoragePolicy
import SystemCalls
import SystemPackage
import TextFormats

/// The settings of the daily backup, from the configuration file.
struct BackupSettings: Sendable, Hashable {
    /// The directories and files to back up, absolute.
    var sources: [FilePath] = []
    /// The repository, in the form that `--repository` takes.
    var repository = ""
    /// Where the repository's password comes from.
    var password = Password.environment
    /// The marks that exclude; nil for the default set.
    var markers: [Marker]?
    /// Whether temporary and cache directories are excluded.
    var usesLocations = true
    /// The size above which files are excluded; nil for no limit.
    var largestFile: ByteSize?
    /// The tags of each snapshot.
    var tags: [String] = []
    /// Which snapshots are kept; empty when none is ever removed.
    var retention = RetentionRules()
    /// How often data that no snapshot needs is removed.
    var prune = Interval.never
    /// How often the repository is checked.
    var verify = Interval.days(7)
    /// Whether checking reads all data.
    var verifyReadsData = false
    /// The age, in seconds, at which the last backup is too old to rely on; nil for no limit.
    var staleAfter: Int64? = defaultStaleAge

    /// Three intervals of the installed timers, which start a run every day.
    static let defaultStaleAge: Int64 = 3 * 86400

    /// Where the repository's password comes from.
    enum Password: Sendable, Hashable {
        /// `$RESTIC_PASSWORD_FILE`, `$RESTIC_PASSWORD_COMMAND` or `$RESTIC_PASSWORD`.
        case environment
        /// The password itself.
        case text(String)
        /// A file that contains it.
        case file(FilePath)
        /// A command that prints it.
        case command(String)
    }
}

/// How often something is done.
enum Interval: Sendable, Hashable {
    /// Never.
    case never
    /// Once in this many days; 0 for every run.
    case days(Int)

    /// Whether it is due again.
    ///
    /// - Parameters:
    ///   - last: when it was last done, in seconds since 1970; nil when it never was.
    ///   - now: the current time, in seconds since 1970. A clock that was set back makes it due.
    func isDue(last: Int64?, now: Int64) -> Bool {
        guard case .days(let days) = self else { return false }
        guard let last, last <= now else { return true }
        // A timer does not fire at the very same second each day.
        let slack: Int64 = 3600
        return now.subtractingSaturating(last)
            >= Int64(days).multipliedSaturating(by: 86400) - slack
    }
}

extension BackupSettings {
    /// The path of the configuration file when no other is given:
    /// `$XDG_CONFIG_HOME/resval/backup.toml`, by default below `~/.config`.
    ///
    /// - Returns: nil when no home directory is known.
    static var defaultFile: FilePath? {
        currentBaseDirectories().configurationHome?.path
            .appending("resval").appending("backup.toml")
    }

    /// Reads a configuration file.
    ///
    /// - Throws: ``FileError`` when it cannot be read; ``SettingsError`` when it is not valid, or
    ///   when it contains a password and users other than its owner have permissions on it.
    static func read(_ path: FilePath) throws -> BackupSettings {
        let (text, status) = try settingsText(of: path)
        let settings = try BackupSettings(text, home: currentBaseDirectories().home)
        if case .text = settings.password, status.permissions & 0o077 != 0 {
            throw try SettingsReader(text).complaint(
                SettingsKey.password.rawValue,
                "is in a file that other users can read: chmod 600, or use password-file")
        }
        return settings
    }

    /// The environment variables that give a password.
    static let passwordVariables = [
        "RESTIC_PASSWORD", "RESTIC_PASSWORD_FILE", "RESTIC_PASSWORD_COMMAND",
    ]

    /// Returns an environment that gives restic the password, by one variable in place of all that
    /// give another.
    func environment(replacingIn inherited: [[UInt8]]) -> [[UInt8]] {
        let given: [UInt8]
        switch password {
        case .environment: return inherited
        case .file(let path): given = Array("RESTIC_PASSWORD_FILE=".utf8) + path.bytes
        case .text(let text): given = Array("RESTIC_PASSWORD=\(text)".utf8)
        case .command(let command): given = Array("RESTIC_PASSWORD_COMMAND=\(command)".utf8)
        }
        let kept = inherited.filter { variable in
            !Self.passwordVariables.contains { variable.starts(with: "\($0)=".utf8) }
        }
        return kept + [given]
    }
}

/// The option that names the configuration file.
struct ConfigurationOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration file. Without it, $XDG_CONFIG_HOME/resval/backup.toml.",
            valueName: "file"))
    var config: PathArgument?

    /// The name by which the snapshots of the configuration are known: a hash of the file's real path; nil
    /// when it is not known where the file is.
    var name: String? {
        guard let path = config?.path ?? BackupSettings.defaultFile else { return nil }
        return (try? backedUpPath(path, followsLast: true)).map { shortName(for: $0.bytes) }
    }

    /// The directory for what is kept of the configuration: `backup/NAME` in the state directory, which may
    /// be missing; nil when there is no configuration.
    ///
    /// - Throws: ``FileError`` when no directory for state is known.
    func stateDirectory() throws(FileError) -> FilePath? {
        let state = try StateDirectory.path()
        return name.map { state.appending("backup").appending($0) }
    }

    /// Reads the configuration, and reports what is wrong with it.
    ///
    /// - Throws: `ExitCode` 1 when it cannot be read or is not valid.
    func settings() throws -> BackupSettings {
        guard let path = config?.path ?? BackupSettings.defaultFile else {
            Messages.write(
                about: [UInt8]?.none, "there is no configuration (set HOME, or give --config)")
            throw ExitCode(1)
        }
        do {
            return try known.withLock { known in
                if let settings = known { return settings }
                let settings = try BackupSettings.read(path)
                warnIfReadableByOthers(path, "the configuration")
                known = settings
                return settings
            }
        } catch let error as SettingsError {
            let line = error.line.map { "line \($0): " } ?? ""
            Messages.write(about: path.bytes, line + error.description)
        } catch let error as FileError {
            Messages.write(error)
        }
        throw ExitCode(1)
    }

    /// Reads the configuration; nil when none was named and the default file does not exist.
    ///
    /// - Throws: as ``settings()`` does.
    func settingsIfAny() throws -> BackupSettings? {
        guard config == nil, known.withLock({ $0 }) == nil else { return try settings() }
        guard let path = BackupSettings.defaultFile else { return nil }
        do throws(Errno) {
            _ = try path.status()
        } catch .noSuchFileOrDirectory {
            return nil
        } catch {
            // Reading the file reports the error.
        }
        return try settings()
    }
}

/// The configuration: a command names at most one, and reads it once.
private let known = Monitor<BackupSettings?>(nil)
