import ArgumentParser
import BackupPlanning
import Backups
import CommandSupport
import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The settings of the daily backup, from the configuration file.
struct BackupSettings: Sendable, Hashable {
    /// The directories and files to back up, absolute.
    var sources: [FilePath] = []
    /// The repository, in the form that `--repository` takes.
    var repository = ""
    var password = Password.environment
    /// The marks that exclude; nil for the default set.
    var markers: Set<Marker>?
    /// Whether temporary and cache directories are excluded.
    var usesLocations = true
    /// The size above which files are excluded; nil for no limit.
    var largestFile: ByteSize?
    /// What is excluded below the sources.
    var patterns: [ExclusionPattern] = []
    /// The growth, in per cent of the snapshot before, that is told of; nil for none.
    var growth: Int?
    var tags: [String] = []
    /// Which snapshots are kept; empty when none is ever removed.
    var retention = RetentionRules()
    /// How often data that no snapshot needs is removed.
    var prune = Interval.never
    var verify = Interval.days(7)
    var verifyReadsData = false
    /// The age, in seconds, at which the last backup is too old to rely on; nil for no limit. The
    /// default is three days, or three times ``every``.
    var staleAfter: Int64? = 3 * 86400
    /// The age of the last backup, in seconds, at which `run --if-due` makes the next one.
    var every: Int64 = 86400
    /// Whether `run --if-due` makes a backup while the machine is on battery.
    var runsOnBattery = true
    /// The most bytes a second that are sent to the repository; nil for no limit.
    var uploadLimit: ByteSize?
    /// The variables that restic gets, such as the keys of a server.
    var variables: [String: String] = [:]
    /// What runs before and after a run, and when it failed.
    var commands = RunCommands()

    enum Password: Sendable, Hashable {
        /// `$RESTIC_PASSWORD_FILE`, `$RESTIC_PASSWORD_COMMAND` or `$RESTIC_PASSWORD`.
        case environment
        case text(String)
        case file(FilePath)
        case command(String)
    }
}

enum Interval: Sendable, Hashable {
    case never
    /// Once in this many days; 0 for every run.
    case days(Int)

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

/// The keys of the configuration file.
enum SettingsKey: String, CaseIterable {
    case sources, repository, password
    case passwordFile = "password-file"
    case passwordCommand = "password-command"
    case markers, locations
    case exclude
    case excludeLargerThan = "exclude-larger-than"
    case warnGrowth = "warn-growth"
    case tags
    case retention, prune, verify
    case verifyReadData = "verify-read-data"
    case staleAfter = "stale-after"
    case every
    case onBattery = "on-battery"
    case uploadLimit = "upload-limit"
    case environment, before, after
    case onFailure = "on-failure"
    case commandTimeout = "command-timeout"

    /// Those that the example in the help of `run` lacks, but for the table.
    static let others = allCases.filter { key in
        ![.sources, .repository, .passwordFile, .retention, .environment].contains(key)
    }
}

extension BackupSettings {
    /// - Parameters:
    ///   - text: TOML.
    ///   - home: what `~` stands for; nil when no home directory is known.
    /// - Throws: ``SettingsError``, naming the line, the key and what is valid.
    init(_ text: String, home: FilePath?) throws(SettingsError) {
        let reader = try SettingsReader(text, home: home)
        try reader.refuseUnknownKeys(but: SettingsKey.self)
        for key in SettingsKey.allCases
        where reader.has(key) || key == .sources || key == .repository {
            try read(key, reader)
        }
        if !reader.has(SettingsKey.staleAfter) {
            staleAfter = max(3 * 86400, every.multipliedSaturating(by: 3))
        }
    }

    /// Reads the value of a key. A later key may depend on an earlier one.
    private mutating func read(_ key: SettingsKey, _ reader: SettingsReader) throws(SettingsError) {
        switch key {
        case .sources:
            sources = try reader.paths(key) ?? []
            guard !sources.isEmpty else {
                throw reader.complaint(key, "names what to back up: sources = [\"~\"]")
            }
        case .repository: repository = try reader.repository(key)
        case .password, .passwordFile, .passwordCommand:
            let given = [SettingsKey.password, .passwordFile, .passwordCommand].first(
                where: reader.has)
            if let given, given != key {
                throw reader.complaint(key, "is given besides \(given.rawValue): give one of them")
            }
            guard let text = try reader.string(key) else { return }
            password =
                switch key {
                case .passwordFile: .file(try reader.path(text, of: key))
                case .passwordCommand: .command(text)
                default: .text(text)
                }
        case .markers:
            var markers: Set<Marker> = []
            for name in try reader.strings(key) ?? [] {
                guard let marker = Marker(rawValue: name) else {
                    throw reader.complaint(key, "has no mark '\(name)' (valid: \(Marker.list))")
                }
                markers.insert(marker)
            }
            guard !markers.isEmpty else { throw reader.complaint(key, "names at least one mark") }
            self.markers = markers
        case .locations: usesLocations = try reader.boolean(key) ?? true
        case .excludeLargerThan:
            largestFile = try reader.value(
                key, "takes a size such as \"500M\" or \"4G\"", ByteSize.init)
        case .exclude:
            let origin = reader.complaint(key, "").line.map { "line \($0) of the configuration" }
            for text in try reader.strings(key) ?? [] {
                guard let pattern = ExclusionPattern(text, origin: origin, home: reader.home) else {
                    throw reader.complaint(
                        key, "takes patterns with gitignore's rules, not '\(text)'")
                }
                patterns.append(pattern)
            }
        case .warnGrowth:
            growth = try reader.value(key, "takes a share such as \"20%\"") { text in
                guard text.hasSuffix("%"), let share = Int(text.dropLast()), share > 0 else {
                    return nil
                }
                return share
            }
        case .tags:
            tags = try reader.strings(key) ?? []
            if let tag = tags.first(where: { !SnapshotTags.isAllowed($0) }) {
                throw reader.complaint(
                    key, "has a tag that contains a comma or begins with resval-: '\(tag)'")
            }
        case .retention:
            if let table = try reader.table(key) { retention = try RetentionRules(table) }
            if !retention.isEmpty { prune = .days(7) }
        case .prune: prune = try reader.interval(key)
        case .verify: verify = try reader.interval(key)
        case .verifyReadData: verifyReadsData = try reader.boolean(key) ?? false
        case .staleAfter:
            staleAfter = try reader.value(
                key, "takes an age such as \"36h\" or \"3d\", or \"never\""
            ) { text in
                if text == "never" { return .some(nil) }
                guard let age = AgeArgument(argument: text)?.seconds, age > 0 else { return nil }
                return age
            }
        case .every: every = try reader.age(key)
        case .onBattery: runsOnBattery = try reader.boolean(key) ?? true
        case .uploadLimit:
            uploadLimit = try reader.value(
                key, "takes the most to send in a second, such as \"500K\" or \"2M\"",
                ByteSize.init)
        case .environment:
            variables = try reader.table(key)?.texts() ?? [:]
            for name in variables.keys.sorted() {
                guard name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil else {
                    throw reader.complaint(
                        key, "has a name that is not one of a variable: '\(name)'")
                }
                guard !name.hasPrefix("RESTIC_PASSWORD"), !name.hasPrefix("RESTIC_REPOSITORY")
                else {
                    throw reader.complaint(
                        key, "has \(name): that is what repository and password-file are for")
                }
            }
        case .before: commands.before = try reader.string(key)
        case .after: commands.after = try reader.string(key)
        case .onFailure: commands.onFailure = try reader.string(key)
        case .commandTimeout: commands.limit = .seconds(try reader.age(key))
        }
    }
}

extension SettingsReader {
    /// Returns the repository's location, with a directory in it made absolute.
    fileprivate func repository(_ key: SettingsKey) throws(SettingsError) -> String {
        guard let text = try string(key) else {
            throw complaint(
                key, "says where the snapshots are: repository = \"/mnt/backup\"")
        }
        let scheme = "local:"
        if text.utf8.starts(with: scheme.utf8) {
            let rest = text.unicodeScalars.dropFirst(scheme.unicodeScalars.count)
            return scheme + (try path(String(rest), of: key).string)
        }
        if text.unicodeScalars.prefix(while: { $0 != "/" }).contains(":") { return text }
        return try path(text, of: key).string
    }

    fileprivate func age(_ key: SettingsKey) throws(SettingsError) -> Int64 {
        try value(key, "takes a time such as \"12h\" or \"1d\"") { text in
            AgeArgument(argument: text).flatMap { $0.seconds > 0 ? $0.seconds : nil }
        }
    }

    fileprivate func interval(_ key: SettingsKey) throws(SettingsError) -> Interval {
        if let days = integerIfAny(key), days >= 1, days <= 36500 { return .days(days) }
        return try value(
            key,
            "takes \"always\", \"daily\", \"weekly\", \"monthly\", \"never\" or a number of days"
        ) { text in
            switch text {
            case "never": .never
            case "always": .days(0)
            case "daily": .days(1)
            case "weekly": .days(7)
            case "monthly": .days(30)
            default: nil
            }
        }
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

    /// - Throws: ``FileError`` when it cannot be read; ``SettingsError`` when it is not valid, or
    ///   when it contains a password and users other than its owner have permissions on it.
    static func read(_ path: FilePath) throws -> BackupSettings {
        let (text, status) = try settingsText(of: path)
        // What belongs to the machine has no home.
        let home = path.starts(with: systemDirectory) ? nil : currentBaseDirectories().home
        let settings = try BackupSettings(text, home: home)
        let hasPassword = if case .text = settings.password { true } else { false }
        if status.permissions & 0o077 != 0, hasPassword || !settings.variables.isEmpty {
            throw try SettingsReader(text).complaint(
                hasPassword ? SettingsKey.password : .environment,
                "is in a file that other users can read: chmod 600"
                    + (hasPassword ? ", or use password-file" : ""))
        }
        if !settings.commands.isEmpty { try requireRootsDirectories(above: path) }
        return settings
    }

    /// The directory of the machine's own configurations.
    static let systemDirectory: FilePath = "/etc/resval"

    var policy: PolicyOptions {
        var options = PolicyOptions()
        options.markers = markers
        options.ignoresLocations = !usesLocations
        return options
    }

    /// Returns an environment that gives restic the password, by one variable in place of all that
    /// give another, and the variables of the settings.
    func environment(replacingIn inherited: [[UInt8]]) -> [[UInt8]] {
        var replaced = Array(variables.keys)
        var given = variables.sorted { $0.key < $1.key }.map { Array("\($0.key)=\($0.value)".utf8) }
        if password != .environment { replaced += passwordVariables }
        switch password {
        case .environment: break
        case .file(let path): given.append(Array("RESTIC_PASSWORD_FILE=".utf8) + path.bytes)
        case .text(let text): given.append(Array("RESTIC_PASSWORD=\(text)".utf8))
        case .command(let command):
            given.append(Array("RESTIC_PASSWORD_COMMAND=\(command)".utf8))
        }
        return inherited.filter { variable in
            !replaced.contains { variable.starts(with: "\($0)=".utf8) }
        } + given
    }
}

/// The option that names the configuration file.
struct ConfigurationOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The settings (default: ~/.config/resval/backup.toml).",
            valueName: "file"))
    var config: PathArgument?

    /// The file; nil when it is not known where it is.
    var file: FilePath? { config?.path ?? BackupSettings.defaultFile }

    /// The name by which the snapshots of the configuration are known: a hash of the file's real path; nil
    /// when it is not known where the file is.
    var name: String? {
        file.map { shortName(for: backedUpPath($0).bytes) }
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
        guard let path = file else {
            Messages.write(
                "there is no configuration (set HOME, or begin with: resval-backup setup)")
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
            Messages.write(about: path.bytes, error.sentence)
        } catch let error as FileError where error.code == .noSuchFile && config == nil {
            Messages.write(about: path.bytes, "is not there yet (make it: resval-backup setup)")
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
