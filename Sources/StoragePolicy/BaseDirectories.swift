import SystemPackage

/// The home, and the directories of the XDG Base Directory Specification, as environment and password
/// database tell them.
public struct BaseDirectories: Sendable, Hashable {
    /// The user's home; nil when none is known.
    public let home: FilePath?
    /// Every home the password database tells, and the user's own. `/` is none.
    public let homes: [FilePath]
    /// The accounts of the password database.
    public let accounts: [PasswordDatabase.Account]
    /// `$XDG_CACHE_HOME`, by default `~/.cache`.
    public let cacheHome: Setting?
    /// `$XDG_CONFIG_HOME`, by default `~/.config`.
    public let configurationHome: Setting?
    /// `$XDG_DATA_HOME`, by default `~/.local/share`.
    public let dataHome: Setting?
    /// `$XDG_STATE_HOME`, by default `~/.local/state`.
    public let stateHome: Setting?
    /// `$TMPDIR`; nil when unset or not absolute.
    public let temporaryDirectory: Setting?
    /// What was ignored.
    public let warnings: [LocationWarning]

    /// A directory and what names it.
    public struct Setting: Sendable, Hashable {
        /// The directory.
        public let path: FilePath
        /// The variable with its dollar sign, whether it is set or not.
        public let name: String
        /// Whether the variable is set; otherwise ``path`` is the default.
        public let isFromEnvironment: Bool
    }

    /// Reads the settings.
    ///
    /// Empty variables are unset, relative ones are ignored with a warning, as the specification
    /// says. `$HOME` falls back to the password database; `/` is no home.
    ///
    /// - Parameters:
    ///   - environment: the variables by name, without a dollar sign.
    ///   - passwordDatabase: the contents of `/etc/passwd`.
    ///   - user: the user's number.
    public init(
        environment: [String: FilePath], passwordDatabase: PasswordDatabase, user: UInt32
    ) {
        var reader = SettingReader(environment: environment)
        let home = reader.home() ?? passwordDatabase.home(of: user)
        if home == nil { reader.warnings.append(LocationWarning(.noHome, setting: "$HOME")) }
        self.home = home
        accounts = passwordDatabase.accounts
        var homes = passwordDatabase.accounts.map(\.home)
        if let home { homes.append(home) }
        self.homes = homes
        cacheHome = reader.setting("XDG_CACHE_HOME", or: home?.appending(".cache"))
        configurationHome = reader.setting("XDG_CONFIG_HOME", or: home?.appending(".config"))
        dataHome = reader.setting("XDG_DATA_HOME", or: home?.appending(".local/share"))
        stateHome = reader.setting("XDG_STATE_HOME", or: home?.appending(".local/state"))
        temporaryDirectory = reader.setting("TMPDIR", or: nil)
        warnings = reader.warnings
    }
}

private struct SettingReader {
    let environment: [String: FilePath]
    var warnings: [LocationWarning] = []

    init(environment: [String: FilePath]) { self.environment = environment }

    mutating func home() -> FilePath? {
        guard let path = absolutePath("HOME") else { return nil }
        guard path.isUsableHome else {
            warnings.append(LocationWarning(.filesystemRoot, setting: "$HOME", path: path))
            return nil
        }
        return path
    }

    mutating func setting(
        _ variable: String, or defaultPath: FilePath?
    ) -> BaseDirectories.Setting? {
        let name = "$" + variable
        if let path = absolutePath(variable) {
            return BaseDirectories.Setting(path: path, name: name, isFromEnvironment: true)
        }
        return defaultPath.map {
            BaseDirectories.Setting(path: $0, name: name, isFromEnvironment: false)
        }
    }

    private mutating func absolutePath(_ variable: String) -> FilePath? {
        guard let path = environment[variable], !path.isEmpty else { return nil }
        guard path.isAbsolute else {
            warnings.append(LocationWarning(.relative, setting: "$" + variable, path: path))
            return nil
        }
        return path
    }
}
