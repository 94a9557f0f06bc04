import StoragePolicy
import SystemCalls
import SystemPackage

/// Backup repositories and password files that settings name: nothing there is ever deleted.
enum BackupPlaces {
    /// The paths that `backup.toml` and the variables of resval-backup and restic name.
    static func protected(_ base: BaseDirectories) -> [FilePath] {
        var paths = variables.compactMap { environmentVariable($0) }
            .flatMap { Self.paths(in: $0, base) }
        if let settings = base.configurationHome {
            let file = settings.path.appending("resval").appending("backup.toml")
            paths += Self.paths(inSettings: contents(of: file), base)
        }
        return paths
    }

    /// The paths in lines such as `repository = "/srv/backup"`.
    ///
    /// Not a reader of TOML: every quoted text of such a line counts, so that what a reader would
    /// refuse is protected all the same.
    static func paths(inSettings contents: [UInt8], _ base: BaseDirectories) -> [FilePath] {
        contents.split(separator: UInt8(ascii: "\n")).flatMap { line -> [FilePath] in
            let text = line.drop { $0 == 0x20 || $0 == 0x09 }
            guard keys.contains(where: { text.starts(with: $0.utf8) }) else { return [] }
            let parts = text.split(omittingEmptySubsequences: false) {
                $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'")
            }
            return parts.enumerated().filter { $0.offset % 2 == 1 }
                .flatMap { paths(in: Array($0.element), base) }
        }
    }

    /// The path that a repository or a file is given by; empty for one on another machine.
    private static func paths(in value: [UInt8], _ base: BaseDirectories) -> [FilePath] {
        var bytes = value
        for prefix in ["tar:", "local:"] where bytes.starts(with: prefix.utf8) {
            bytes.removeFirst(prefix.utf8.count)
        }
        if bytes.starts(with: "~/".utf8), let home = base.home {
            return [home.appending(FilePath(bytes: bytes.dropFirst(2)).components)]
        }
        let path = FilePath(bytes: bytes)
        return path.isAbsolute ? [path] : []
    }

    private static func contents(of file: FilePath) -> [UInt8] {
        do throws(Errno) {
            return try contentsOfFile(file, limit: settingsLimit)
        } catch {
            // Nothing is named by what nobody can read; its own directory is protected anyway.
            return []
        }
    }

    private static let keys = ["repository", "password-file"]
    private static let variables = [
        "RESVAL_BACKUP_REPOSITORY", "RESTIC_REPOSITORY", "RESTIC_REPOSITORY_FILE",
        "RESTIC_PASSWORD_FILE",
    ]
}
