import SystemCalls
import SystemPackage

/// The home and the directories of the XDG Base Directory Specification, from the environment and
/// the password database.
public struct BaseDirectories: Sendable, Hashable {
    /// The user's home; nil if none is known.
    public let home: FilePath?
    /// Every home in the password database, and the user's own; never `/`.
    public let homes: [FilePath]
    /// The accounts in the password database.
    public let accounts: [PasswordDatabase.Account]
    /// The uids in the password database, also those of accounts without a home.
    package let users: Set<UInt32>
    /// `$XDG_CACHE_HOME`, by default `~/.cache`.
    public let cacheHome: Setting?
    /// `$XDG_CONFIG_HOME`, by default `~/.config`.
    public let configurationHome: Setting?
    /// `$XDG_DATA_HOME`, by default `~/.local/share`.
    public let dataHome: Setting?
    /// `$XDG_STATE_HOME`, by default `~/.local/state`.
    public let stateHome: Setting?
    /// `$TMPDIR`; nil if unset or not absolute.
    public let temporaryDirectory: Setting?
    /// The settings that were ignored, and why.
    public let warnings: [LocationWarning]

    /// A directory and the variable that sets it.
    public struct Setting: Sendable, Hashable {
        /// The directory.
        public let path: FilePath
        /// The variable with its dollar sign, even if it is not set.
        public let name: String
        /// Whether the variable is set; otherwise ``path`` is the default.
        public let isFromEnvironment: Bool

        var nameInWarnings: String { isFromEnvironment ? name : "the default of \(name)" }
    }

    /// Reads the settings.
    ///
    /// Empty variables count as unset; relative paths are ignored with a warning, as the
    /// specification says. Without a usable `$HOME`, the password database provides the home; `/`
    /// is not usable.
    ///
    /// - Parameters:
    ///   - environment: the variables by name, without a dollar sign.
    ///   - passwordDatabase: the contents of `/etc/passwd`.
    ///   - user: the user's uid.
    public init(
        environment: [String: FilePath], passwordDatabase: PasswordDatabase, user: UInt32
    ) {
        var reader = SettingReader(environment: environment)
        let home = reader.home() ?? passwordDatabase.home(of: user)
        if home == nil { reader.warnings.append(LocationWarning(.noHome, setting: "$HOME")) }
        self.home = home
        accounts = passwordDatabase.accounts
        users = passwordDatabase.users
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

/// The accounts in `/etc/passwd`. Parsed here, since `getpwuid(3)` does not work in a statically
/// linked glibc.
public struct PasswordDatabase: Sendable, Hashable {
    /// One account.
    public struct Account: Sendable, Hashable {
        /// The uid.
        public let user: UInt32
        /// The home, as an absolute path.
        public let home: FilePath

        package init(user: UInt32, home: FilePath) {
            self.user = user
            self.home = home
        }
    }

    /// The accounts with an absolute home other than `/`, in the file's order.
    public private(set) var accounts: [Account] = []
    /// The uids of all accounts.
    package private(set) var users: Set<UInt32> = []
    /// The uids by the names of the accounts.
    package private(set) var identifiers: [String: UInt32] = [:]

    /// Parses the contents of a file in the format of passwd(5). Invalid lines are skipped.
    public init(contents: [UInt8]) {
        for line in contents.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard fields.count >= 6, let user = UInt32(String(decoding: fields[2], as: UTF8.self))
            else { continue }
            users.insert(user)
            let name = String(decoding: fields[0], as: UTF8.self)
            if identifiers[name] == nil { identifiers[name] = user }
            add(Account(user: user, home: FilePath(bytes: fields[5])))
        }
    }

    /// Adds an account that the file does not name, unless its home is relative or `/`.
    package mutating func add(_ account: Account) {
        if account.home.isUsableHome { accounts.append(account) }
    }

    /// Returns the home of a user; nil if the user has none.
    public func home(of user: UInt32) -> FilePath? {
        accounts.first { $0.user == user }?.home
    }
}
