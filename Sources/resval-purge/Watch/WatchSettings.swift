import CommandSupport
import EffectiveValues
import StorageManagement
import StoragePolicy
import SystemCalls
import SystemPackage

struct WatchSettings: Sendable, Hashable {
    /// An absolute path on each watched volume.
    var volumes: [FilePath] = []
    /// The thresholds below which a purge begins.
    var thresholds = StorageThresholds()
    /// The directories below which `isPurgeable` marks count, absolute.
    var markRoots: [FilePath] = []
    /// Additional protected directories, absolute.
    var protected: [FilePath] = []
    /// Additional directories for caches and for temporary files, absolute.
    var locations: [StorageLocation] = []
    /// The age below which nothing is purged, in seconds; nil for the ages that follow from the
    /// location and the pressure.
    var minimumAge: Int64?
    /// The size in bytes below which a unit of caches and temporary files goes only with others of its
    /// directory.
    var smallest: Int64 = 64 << 10

    /// Whether no process outside of this PID namespace uses what is searched.
    var isAlone = false

    init(volumes: [FilePath]) { self.volumes = volumes }
}

enum WatchKey: String, CaseIterable {
    case volumes
    case markRoots = "mark-roots"
    case protected, caches, temporary
    case minimumAge = "min-age"
    case smallest, alone, thresholds
}

enum ThresholdKey: String, CaseIterable {
    case lowPercent = "low-percent"
    case low
    case criticalPercent = "critical-percent"
    case critical
    case lowInodes = "low-inodes"
    case criticalInodes = "critical-inodes"
}

extension WatchSettings {
    /// Returns a warning for each configured directory that cannot be found: a misspelt one has no
    /// effect, and that must be reported.
    func missingDirectories() -> [(path: FilePath, sentence: String)] {
        let named =
            protected.map { ($0, "protected", "nothing is protected there") }
            + markRoots.map { ($0, "mark-roots", "no mark counts there") }
            + locations.map {
                (
                    $0.path, $0.kind == .temporary ? "temporary" : "caches",
                    "nothing is deleted there"
                )
            }
        return named.compactMap { path, key, effect in
            do throws(Errno) {
                _ = try path.status()
                return nil
            } catch {
                return (path, "\(key): cannot be found, so \(effect): \(error)")
            }
        }
    }

    /// Refuses configured directories for caches or temporary files that cannot be used as such.
    ///
    /// - Parameter environment: the environment under these settings.
    /// - Throws: `SettingsError`, listing each refused directory.
    func requirePlausibleLocations(
        in environment: PolicyEnvironment
    ) throws(SettingsError) {
        let refusals = environment.locations.refusals.map { refusal in
            let key =
                locations.contains { $0.path == refusal.path && $0.kind == .temporary }
                ? "temporary" : "caches"
            return "\(key): \(refusal.path?.string ?? ""): \(refusal.sentence)"
        }
        guard refusals.isEmpty else { throw SettingsError(refusals.joined(separator: "; ")) }
    }
}

extension WatchSettings {
    /// The default configuration file: `$XDG_CONFIG_HOME/resval/purge.toml`, by default below
    /// `~/.config`; nil when no home is known.
    static var defaultFile: FilePath? {
        currentBaseDirectories().configurationHome?.path
            .appending("resval").appending("purge.toml")
    }

    /// Reads a configuration file.
    ///
    /// - Throws: `FileError` when it cannot be read, `SettingsError` when it is invalid.
    static func read(_ path: FilePath) throws -> WatchSettings {
        try WatchSettings(
            try settingsText(of: path).text, home: currentBaseDirectories().home)
    }

    /// Reads ``defaultFile``. When it does not exist, the volume of the home is watched.
    ///
    /// - Throws: as ``read(_:)``; `FileError` `other` when no home is known.
    static func readUsual() throws -> WatchSettings {
        guard let file = defaultFile, let home = currentBaseDirectories().home else {
            throw FileError(
                code: .other, message: "no home is known", advice: "set HOME, or give --config")
        }
        do {
            return try read(file)
        } catch let error as FileError where error.code == .noSuchFile {
            return WatchSettings(volumes: [home])
        }
    }

    /// Parses the text of a configuration file.
    ///
    /// - Parameters:
    ///   - text: TOML.
    ///   - home: what `~` stands for, and the volume watched by default; nil when no home is
    ///     known.
    /// - Throws: `SettingsError`, with the line, the key and what is valid.
    init(_ text: String, home: FilePath?) throws(SettingsError) {
        let reader = try SettingsReader(text, home: home)
        try reader.refuseUnknownKeys(but: WatchKey.self)
        volumes = try reader.paths(WatchKey.volumes) ?? [home].compactMap(\.self)
        guard !volumes.isEmpty else {
            throw reader.complaint(
                WatchKey.volumes, "names what to watch: volumes = [\"/home\"]")
        }
        markRoots = try reader.paths(WatchKey.markRoots) ?? []
        protected = try reader.paths(WatchKey.protected) ?? []
        let caches = try reader.paths(WatchKey.caches) ?? []
        let temporary = try reader.paths(WatchKey.temporary) ?? []
        locations =
            caches.map { StorageLocation(kind: .caches, path: $0) }
            + temporary.map { StorageLocation(kind: .temporary, path: $0) }
        if reader.has(WatchKey.minimumAge) {
            minimumAge = try reader.value(
                WatchKey.minimumAge, "takes an age such as \"24h\" or \"7d\""
            ) { AgeArgument(argument: $0)?.seconds }
        }
        if reader.has(WatchKey.smallest) { smallest = try reader.size(WatchKey.smallest) }
        isAlone = try reader.boolean(WatchKey.alone) ?? false
        if let table = try reader.table(WatchKey.thresholds) {
            thresholds = try StorageThresholds(table)
        }
    }
}

extension StorageThresholds {
    fileprivate init(_ reader: SettingsReader) throws(SettingsError) {
        try reader.refuseUnknownKeys(but: ThresholdKey.self)
        self.init()
        for key in ThresholdKey.allCases where reader.has(key) {
            switch key {
            case .lowPercent:
                lowBytes.percent = try reader.number(key, upTo: 50)
                lowInodes.percent = lowBytes.percent
            case .criticalPercent:
                criticalBytes.percent = try reader.number(key, upTo: 50)
                criticalInodes.percent = criticalBytes.percent
            case .low: lowBytes.amount = try reader.size(key)
            case .critical: criticalBytes.amount = try reader.size(key)
            case .lowInodes: lowInodes.amount = Int64(try reader.number(key))
            case .criticalInodes: criticalInodes.amount = Int64(try reader.number(key))
            }
        }
        let pairs: [(Limit, Limit, ThresholdKey)] = [
            (lowBytes, criticalBytes, .critical), (lowInodes, criticalInodes, .criticalInodes),
        ]
        for (low, critical, key) in pairs
        where critical.percent > low.percent || critical.amount > low.amount {
            throw reader.complaint(key, "is above low: critical must come after low")
        }
    }
}

extension SettingsReader {
    fileprivate func size(_ key: some RawRepresentable<String>) throws(SettingsError) -> Int64 {
        try value(key, "takes a size such as \"500M\" or \"5G\"") { ByteSize(argument: $0)?.bytes }
    }

    fileprivate func number(
        _ key: ThresholdKey, upTo limit: Int? = nil
    ) throws(SettingsError) -> Int {
        guard let number = try integer(key), (0...(limit ?? .max)).contains(number) else {
            let end = limit.map { " to \($0)" } ?? ""
            throw complaint(key, "takes a number from 0\(end)")
        }
        return number
    }
}
