import StoragePolicy
import SystemPackage

/// Paths of the configuration file: absolute, or beginning with `~/`. A path from the working directory
/// would mean something else in a timer than in a shell.
struct SettingsPaths {
    let home: FilePath?
    let reader: SettingsReader

    func sources() throws(SettingsError) -> [FilePath] {
        var sources: [FilePath] = []
        for text in try reader.strings(SettingsKey.sources) ?? [] {
            sources.append(try path(text, of: .sources))
        }
        guard !sources.isEmpty else {
            throw reader.complaint(
                SettingsKey.sources.rawValue, "names what to back up: sources = [\"~\"]")
        }
        return sources
    }

    /// The location, with the directory in it made absolute.
    func repository() throws(SettingsError) -> String {
        let key = SettingsKey.repository
        guard let text = try reader.string(key) else {
            throw reader.complaint(
                key.rawValue, "says where the snapshots are: repository = \"/mnt/backup\"")
        }
        for scheme in ["tar:", "local:"] where text.hasPrefix(scheme) {
            return scheme + (try path(String(text.dropFirst(scheme.count)), of: key).string)
        }
        let beginning = text.prefix { $0 != "/" }
        if beginning.contains(":") { return text }
        return try path(text, of: key).string
    }

    func path(_ text: String, of key: SettingsKey) throws(SettingsError) -> FilePath {
        if text.hasPrefix("/") { return FilePath(text) }
        guard text == "~" || text.hasPrefix("~/") else {
            throw reader.complaint(
                key.rawValue, "takes paths that begin with / or ~/, not '\(text)'")
        }
        guard let home else {
            throw reader.complaint(key.rawValue, "names ~, but no home is known: set HOME")
        }
        return text == "~" ? home : home.appending(String(text.dropFirst(2)))
    }
}
