import SystemPackage

/// Paths in a configuration file: absolute, or beginning with `~/`. A relative path would mean
/// something else in a timer than in a shell.
package struct SettingsPaths {
    /// The directory that `~` means; nil where the home is unknown.
    package let home: FilePath?
    /// The settings that contain the paths.
    package let reader: SettingsReader

    package init(home: FilePath?, reader: SettingsReader) {
        self.home = home
        self.reader = reader
    }

    /// Returns the paths of a key; nil when it is not set.
    package func paths(
        _ key: some RawRepresentable<String>
    ) throws(SettingsError) -> [FilePath]? {
        guard let texts = try reader.strings(key) else { return nil }
        var paths: [FilePath] = []
        for text in texts { paths.append(try path(text, of: key)) }
        return paths
    }

    /// Returns the path that a key's text names.
    package func path(
        _ text: String, of key: some RawRepresentable<String>
    ) throws(SettingsError) -> FilePath {
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
