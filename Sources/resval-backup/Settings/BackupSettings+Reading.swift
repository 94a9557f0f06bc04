import Backups
import CommandSupport
import SettingsReading
import StoragePolicy
import SystemPackage

extension BackupSettings {
    /// Parses the text of a configuration file.
    ///
    /// - Parameters:
    ///   - text: TOML.
    ///   - home: what `~` stands for; nil when no home directory is known.
    /// - Throws: ``SettingsError``, naming the line, the key and what is valid.
    init(_ text: String, home: FilePath?) throws(SettingsError) {
        let reader = try SettingsReader(text)
        let paths = SettingsPaths(home: home, reader: reader)
        try reader.refuseUnknownKeys(but: SettingsKey.self)
        sources = try paths.sources()
        repository = try paths.repository()
        password = try Self.password(reader, paths)
        markers = try Self.markers(reader)
        usesLocations = try reader.boolean(SettingsKey.locations) ?? true
        largestFile = try Self.largestFile(reader)
        tags = try Self.tags(reader)
        retention = try reader.table(SettingsKey.retention).map(Self.retention) ?? RetentionRules()
        prune = try reader.interval(SettingsKey.prune) ?? (retention.isEmpty ? .never : .days(7))
        verify = try reader.interval(SettingsKey.verify) ?? .days(7)
        verifyReadsData = try reader.boolean(SettingsKey.verifyReadData) ?? false
        staleAfter = try Self.staleAge(reader)
    }

    private static func staleAge(_ reader: SettingsReader) throws(SettingsError) -> Int64? {
        let key = SettingsKey.staleAfter
        guard reader.has(key) else { return defaultStaleAge }
        let text = reader.textIfAny(key)
        if text == "never" { return nil }
        guard let age = text.flatMap(AgeArgument.init)?.seconds, age > 0 else {
            throw reader.complaint(
                key.rawValue, "takes an age such as \"36h\" or \"3d\", or \"never\"")
        }
        return age
    }

    private static func password(
        _ reader: SettingsReader, _ paths: SettingsPaths
    ) throws(SettingsError) -> Password {
        let keys = [SettingsKey.password, .passwordFile, .passwordCommand].filter(reader.has)
        guard keys.count <= 1 else {
            throw reader.complaint(
                keys[1].rawValue, "is given besides \(keys[0].rawValue): give one of them")
        }
        if let text = try reader.string(SettingsKey.password) { return .text(text) }
        if let file = try reader.string(SettingsKey.passwordFile) {
            return .file(try paths.path(file, of: SettingsKey.passwordFile))
        }
        if let command = try reader.string(SettingsKey.passwordCommand) {
            return .command(command)
        }
        return .environment
    }

    private static func markers(_ reader: SettingsReader) throws(SettingsError) -> [Marker]? {
        guard let names = try reader.strings(SettingsKey.markers) else { return nil }
        var markers: [Marker] = []
        for name in names {
            guard let marker = Marker(rawValue: name) else {
                throw reader.complaint(
                    SettingsKey.markers.rawValue, "has no mark '\(name)' (valid: \(Marker.list))")
            }
            markers.append(marker)
        }
        guard !markers.isEmpty else {
            throw reader.complaint(SettingsKey.markers.rawValue, "names at least one mark")
        }
        return markers
    }

    private static func largestFile(_ reader: SettingsReader) throws(SettingsError) -> ByteSize? {
        let key = SettingsKey.excludeLargerThan
        guard let text = try reader.string(key) else { return nil }
        guard let size = ByteSize(argument: text) else {
            throw reader.complaint(key.rawValue, "takes a size such as \"500M\" or \"4G\"")
        }
        return size
    }

    private static func tags(_ reader: SettingsReader) throws(SettingsError) -> [String] {
        let tags = try reader.strings(SettingsKey.tags) ?? []
        for tag in tags where !SourceTags.isAllowed(tag) {
            throw reader.complaint(
                SettingsKey.tags.rawValue,
                "has a tag that contains a comma or begins with resval-: '\(tag)'")
        }
        return tags
    }

    private static func retention(
        _ reader: SettingsReader
    ) throws(SettingsError) -> RetentionRules {
        try reader.refuseUnknownKeys(but: RetentionKey.self)
        var rules = RetentionRules()
        for key in RetentionKey.allCases where reader.has(key) {
            guard let period = key.period else {
                rules.tags = (try reader.strings(key) ?? []).map(RetentionRules.tagList)
                guard rules.tags.allSatisfy({ !$0.isEmpty }) else {
                    throw reader.complaint(key.rawValue, "has an empty tag")
                }
                continue
            }
            if key.isSpan {
                guard let span = CalendarSpan(try reader.string(key) ?? "") else {
                    throw reader.complaint(key.rawValue, "takes a span such as \"1y6m14d\"")
                }
                rules.spans[period] = span
            } else {
                guard let count = try reader.integer(key), count > 0 || count == -1 else {
                    throw reader.complaint(
                        key.rawValue, "takes a number from 1, or -1 to keep all")
                }
                rules.counts[period] = count
            }
        }
        return rules
    }
}

/// The keys of the configuration file.
enum SettingsKey: String, CaseIterable {
    case sources, repository, password
    case passwordFile = "password-file"
    case passwordCommand = "password-command"
    case markers, locations
    case excludeLargerThan = "exclude-larger-than"
    case tags
    case retention, prune, verify
    case verifyReadData = "verify-read-data"
    case staleAfter = "stale-after"
}

/// The keys of the table `retention`: the options of `forget`.
enum RetentionKey: String, CaseIterable {
    case last = "keep-last"
    case hourly = "keep-hourly"
    case daily = "keep-daily"
    case weekly = "keep-weekly"
    case monthly = "keep-monthly"
    case yearly = "keep-yearly"
    case within = "keep-within"
    case withinHourly = "keep-within-hourly"
    case withinDaily = "keep-within-daily"
    case withinWeekly = "keep-within-weekly"
    case withinMonthly = "keep-within-monthly"
    case withinYearly = "keep-within-yearly"
    case tags = "keep-tags"

    /// Whether the value is a span of time, not a number of snapshots.
    var isSpan: Bool { rawValue.hasPrefix("keep-within") }

    /// The period whose newest snapshot is kept; nil for tags.
    var period: RetentionRules.Period? {
        self == .within
            ? .last
            : RetentionRules.Period(rawValue: String(rawValue.split(separator: "-").last ?? ""))
    }
}

extension SettingsPaths {
    func sources() throws(SettingsError) -> [FilePath] {
        let sources = try paths(SettingsKey.sources) ?? []
        guard !sources.isEmpty else {
            throw reader.complaint(
                SettingsKey.sources.rawValue, "names what to back up: sources = [\"~\"]")
        }
        return sources
    }

    /// Returns the repository's location, with a directory in it made absolute.
    func repository() throws(SettingsError) -> String {
        let key = SettingsKey.repository
        guard let text = try reader.string(key) else {
            throw reader.complaint(
                key.rawValue, "says where the snapshots are: repository = \"/mnt/backup\"")
        }
        let scheme = "local:"
        if text.utf8.starts(with: scheme.utf8) {
            let rest = text.unicodeScalars.dropFirst(scheme.unicodeScalars.count)
            return scheme + (try path(String(rest), of: key).string)
        }
        if text.unicodeScalars.prefix(while: { $0 != "/" }).contains(":") { return text }
        return try path(text, of: key).string
    }
}

extension SettingsReader {
    /// Returns the interval of a key; nil when it is not set.
    func interval(_ key: SettingsKey) throws(SettingsError) -> Interval? {
        guard has(key) else { return nil }
        if let days = integerIfAny(key), days >= 1, days <= 36500 { return .days(days) }
        switch textIfAny(key) {
        case "never": return .never
        case "always": return .days(0)
        case "daily": return .days(1)
        case "weekly": return .days(7)
        case "monthly": return .days(30)
        default:
            throw complaint(
                key.rawValue,
                "takes \"always\", \"daily\", \"weekly\", \"monthly\", \"never\" or a number of days"
            )
        }
    }
}
