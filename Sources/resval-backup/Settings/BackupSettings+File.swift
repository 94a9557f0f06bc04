import EffectiveValues
import SettingsReading
import StoragePolicy
import SystemCalls
import SystemPackage

extension BackupSettings {
    /// The path of the configuration file when no other is given:
    /// `$XDG_CONFIG_HOME/resval/backup.toml`, by default below `~/.config`.
    ///
    /// - Returns: nil when no home directory is known.
    static var defaultFile: FilePath? {
        PolicyEnvironment.current().base.configurationHome?.path
            .appending("resval").appending("backup.toml")
    }

    /// Reads a configuration file.
    ///
    /// - Throws: ``FileError`` when it cannot be read; ``SettingsError`` when it is not valid, or
    ///   when it contains a password and users other than its owner have permissions on it.
    static func read(_ path: FilePath) throws -> BackupSettings {
        let (text, status) = try settingsText(of: path)
        let settings = try BackupSettings(text, home: PolicyEnvironment.current().base.home)
        if case .text = settings.password, status.permissions & 0o077 != 0 {
            throw try SettingsReader(text).complaint(
                SettingsKey.password.rawValue,
                "is in a file that other users can read: chmod 600, or use password-file")
        }
        return settings
    }
}
