import SystemCalls
import SystemPackage

/// The inputs that determine the locations.
public struct LocationInputs: Sendable, Hashable {
    /// The home and the XDG base directories.
    public var base: BaseDirectories
    /// The contents of `user-dirs.dirs` in the configuration home; empty if there is none.
    public var userDirectories: [UInt8]
    /// The locations named by the configuration or the command line.
    public var named: [StorageLocation]
    /// The directories for caches that Flatpak and snap give each application:
    /// `~/.var/app/*/cache` and `~/snap/*/common/.cache`.
    public var applicationCaches: [FilePath] = []
    /// Additional directories that are never part of a location.
    public var protected: [FilePath]
    /// The mount points, as real paths.
    public var mountPoints: [FilePath]
    /// The real path of each of ``pathsToResolve`` that exists.
    ///
    /// Rules compare real paths, so that no symbolic link makes a home disposable. A path without
    /// an entry is only normalized lexically.
    public var realPaths: [FilePath: FilePath] = [:]
    /// The paths of ``pathsOfLocations`` that cannot be reached safely, each with the item at which
    /// another user can redirect it. Such a path is not a location.
    public var unsafePaths: [FilePath: FilePath] = [:]

    /// Creates inputs.
    public init(
        base: BaseDirectories, userDirectories: [UInt8] = [], named: [StorageLocation] = [],
        protected: [FilePath] = [], mountPoints: [FilePath] = []
    ) {
        self.base = base
        self.userDirectories = userDirectories
        self.named = named
        self.protected = protected
        self.mountPoints = mountPoints
    }

    /// The paths whose real paths the rules need.
    public var pathsToResolve: Set<FilePath> {
        pathsOfLocations.union(base.homes + unresolvedProtectedRoots)
    }

    /// The paths whose content may be deleted or excluded from backups because of its location.
    public var pathsOfLocations: Set<FilePath> {
        let settings = [base.cacheHome, base.dataHome, base.temporaryDirectory]
        return Set(
            fixedTemporaryDirectories + named.map(\.path) + settings.compactMap { $0?.path }
                + applicationCaches)
    }

    func realPath(of path: FilePath) -> FilePath {
        realPaths[path] ?? path.lexicallyNormalized()
    }

    /// The XDG user directories, as configured and by their default names.
    var userDirectoryPaths: [FilePath] {
        guard let home = base.home else { return [] }
        let configured = UserDirectories(contents: userDirectories, home: home).paths
        let byName = UserDirectories.defaultNames.map { home.appending($0) }
        return configured.sorted { $0.key < $1.key }.map(\.value) + byName
    }

    /// The directories that are never purged and never part of a location, not yet resolved.
    var unresolvedProtectedRoots: [FilePath] {
        let secrets = [".ssh", ".gnupg"].compactMap { base.home?.appending($0) }
        let settings = [base.configurationHome, base.stateHome].compactMap { $0?.path }
        return userDirectoryPaths + secrets + settings + protected
    }
}

/// The directories for temporary files on every machine.
package let fixedTemporaryDirectories: [FilePath] = ["/tmp", "/var/tmp"]

/// The XDG user directories (documents, pictures, …), from `user-dirs.dirs`.
public struct UserDirectories: Sendable, Hashable {
    /// The directories by their variables, such as `XDG_DOCUMENTS_DIR`, without disabled ones.
    public let paths: [String: FilePath]

    /// The default names of the directories.
    public static let defaultNames: [String] = [
        "Desktop", "Documents", "Downloads", "Music", "Pictures", "Public", "Templates", "Videos",
    ]

    /// Parses the contents of `user-dirs.dirs`: lines such as `XDG_MUSIC_DIR="$HOME/Music"`. The
    /// value is absolute or begins with `$HOME/`, and a backslash escapes the next byte. The last
    /// line for a variable counts. A directory equal to the home is disabled.
    ///
    /// - Parameters:
    ///   - contents: the contents of the file.
    ///   - home: the home, as an absolute path.
    public init(contents: [UInt8], home: FilePath) {
        var paths: [String: FilePath] = [:]
        for line in contents.split(separator: UInt8(ascii: "\n")) {
            guard let (variable, value) = setting(in: line),
                let path = directory(value, home: home)
            else { continue }
            paths[variable] = path == home ? nil : path
        }
        self.paths = paths
    }
}

/// Returns the variable and the value of a line; nil if it is empty, a comment or anything else but a
/// user directory.
private func setting(in line: ArraySlice<UInt8>) -> (variable: String, value: [UInt8])? {
    let blanks: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    let variable = String(decoding: line[..<equals].filter { !blanks.contains($0) }, as: UTF8.self)
    var rest = line[(equals + 1)...].drop { blanks.contains($0) }
    guard variable.hasPrefix("XDG_"), variable.hasSuffix("_DIR"),
        rest.popFirst() == UInt8(ascii: "\""), let value = unquoted(rest)
    else { return nil }
    return (variable, value)
}

/// Returns the bytes up to the closing quote, unescaped; nil if there is no closing quote.
private func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var (value, rest): ([UInt8], ArraySlice<UInt8>) = ([], text)
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "\"") { return value }
        guard let kept = byte == UInt8(ascii: "\\") ? rest.popFirst() : byte else { return nil }
        value.append(kept)
    }
    return nil
}

/// Returns the directory of a value; nil if it is neither absolute nor begins with `$HOME`.
private func directory(_ value: [UInt8], home: FilePath) -> FilePath? {
    let prefix = Array("$HOME".utf8)
    guard value.starts(with: prefix) else {
        let path = FilePath(bytes: value)
        return path.isAbsolute ? path : nil
    }
    let rest = value.dropFirst(prefix.count)
    guard let first = rest.first else { return home }
    guard first == UInt8(ascii: "/") else { return nil }
    return home.appending(FilePath(bytes: rest).components)
}
