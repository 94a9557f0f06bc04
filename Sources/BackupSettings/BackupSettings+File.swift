import EffectiveValues
import SettingsReading
import StoragePolicy
import SystemCalls
import SystemPackage

extension BackupSettings {
    /// Where the configuration file is unless something else is named:
    /// `$XDG_CONFIG_HOME/resval/backup.toml`, by default below `~/.config`.
    ///
    /// - Returns: nil where no home is known.
    package static var defaultFile: FilePath? {
        PolicyEnvironment.current().base.configurationHome?.path
            .appending("resval").appending("backup.toml")
    }

    /// Reads a configuration file.
    ///
    /// - Throws: ``FileError`` when it cannot be read; ``SettingsError`` when it is wrong, also when
    ///   it holds a password and others than its owner may read it.
    package static func read(_ path: FilePath) throws -> BackupSettings {
        let (text, status) = try settingsText(of: path)
        let settings = try BackupSettings(text, home: PolicyEnvironment.current().base.home)
        if case .text = settings.password, status.permissions & 0o077 != 0 {
            throw try SettingsReader(text).complaint(
                SettingsKey.password.rawValue,
                "is in a file that others may read: chmod 600, or use password-file")
        }
        return settings
    }
}
