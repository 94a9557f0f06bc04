import ArgumentParser
import CommandSupport
import ResourceValues
import SettingsReading
import SystemCalls
import SystemPackage
import TextFormats

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
