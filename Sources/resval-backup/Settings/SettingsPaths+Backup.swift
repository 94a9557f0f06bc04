import SettingsReading
import SystemPackage

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
        for scheme in ["tar:", "local:"] where text.hasPrefix(scheme) {
            return scheme + (try path(String(text.dropFirst(scheme.count)), of: key).string)
        }
        let beginning = text.prefix { $0 != "/" }
        if beginning.contains(":") { return text }
        return try path(text, of: key).string
    }
}
