import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The backup repositories and password files that settings name.
package enum BackupRepositories {
    /// Returns the paths named by `backup.toml` and by the variables of resval-backup and restic,
    /// which every search protects, and what a repository has in it, which may be linked elsewhere.
    package static func protected(_ base: BaseDirectories) -> [FilePath] {
        let paths = variables.compactMap { environmentVariable($0) }
            .flatMap { Self.paths(in: $0, base) }
        return (paths + Self.paths(inSettings: settings(base), base)).flatMap { path in
            [path] + ["data", "index", "keys", "snapshots"].map { path.appending($0) }
        }
    }

    /// Returns the directory of the repository that `resval-backup` uses without options: the one in
    /// `RESVAL_BACKUP_REPOSITORY`, or else in `backup.toml`. Empty when it is not on a local
    /// filesystem, or does not exist.
    package static func used(in environment: PolicyEnvironment) -> Set<FileIdentity> {
        let base = environment.base
        let variable = environmentVariable("RESVAL_BACKUP_REPOSITORY") ?? []
        var paths = Self.paths(in: variable, base)
        if variable.isEmpty {
            paths = Self.repository(inSettings: settings(base), base)
        } else if paths.isEmpty {
            // Relative, unless it is on another machine: then there is no such path here.
            paths = [FilePath(bytes: variable)]
        }
        return Set(paths.compactMap { environment.localStatus(of: $0)?.identity })
    }

    private static func settings(_ base: BaseDirectories) -> [UInt8] {
        base.configurationHome.map {
            contents(of: $0.path.appending("resval").appending("backup.toml"))
        } ?? []
    }

    /// Returns the paths in lines such as `repository = "/srv/backup"`.
    ///
    /// This does not parse TOML: every quoted text on such a line counts, so that what a parser
    /// would refuse is protected too.
    static func paths(inSettings contents: [UInt8], _ base: BaseDirectories) -> [FilePath] {
        quotedTexts(in: contents) { text in
            ["repository", "password-file"].contains { text.starts(with: $0.utf8) }
        }.flatMap { $0.flatMap { paths(in: $0, base) } }
    }

    /// Returns the path of the repository that settings name; empty when it is on another machine.
    ///
    /// Only the value of the key counts: a plan stores what a comment names.
    static func repository(inSettings contents: [UInt8], _ base: BaseDirectories) -> [FilePath] {
        let values = quotedTexts(in: contents) { text in
            let rest = text.dropFirst("repository".utf8.count).drop { $0 == 0x20 || $0 == 0x09 }
            return text.starts(with: "repository".utf8) && rest.first == UInt8(ascii: "=")
        }
        return values.compactMap(\.first).flatMap { paths(in: $0, base) }
    }

    /// Returns the quoted texts of each line that is chosen by its text behind the indentation.
    private static func quotedTexts(
        in contents: [UInt8], where isChosen: (ArraySlice<UInt8>) -> Bool
    ) -> [[[UInt8]]] {
        contents.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let text = line.drop { $0 == 0x20 || $0 == 0x09 }
            guard isChosen(text) else { return nil }
            let parts = text.split(omittingEmptySubsequences: false) {
                $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'")
            }
            return parts.enumerated().filter { $0.offset % 2 == 1 }.map { Array($0.element) }
        }
    }

    /// Returns the path of a repository or a file; empty for a relative path and for one on another
    /// machine.
    private static func paths(in value: [UInt8], _ base: BaseDirectories) -> [FilePath] {
        let bytes = value.trimmingPrefix("local:".utf8)
        if bytes.starts(with: "~/".utf8), let home = base.home {
            return [home.appending(FilePath(bytes: bytes.dropFirst(2)).components)]
        }
        let path = FilePath(bytes: bytes)
        return path.isAbsolute ? [path] : []
    }

    private static func contents(of file: FilePath) -> [UInt8] {
        do throws(FileError) {
            return try contentsOfFile(file, limit: settingsLimit)
        } catch {
            // A file that cannot be read names nothing; its own directory is protected anyway.
            return []
        }
    }

    private static let variables = [
        "RESVAL_BACKUP_REPOSITORY", "RESTIC_REPOSITORY", "RESTIC_REPOSITORY_FILE",
        "RESTIC_PASSWORD_FILE",
    ]
}
