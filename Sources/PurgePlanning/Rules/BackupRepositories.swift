import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The backup repositories and password files that settings name.
package enum BackupRepositories {
    /// Returns the paths named by the settings of the user and of the system, and by the variables of
    /// resval-backup and restic, which every search protects, and what a repository has in it, which may be
    /// linked elsewhere.
    ///
    /// - Throws: ``FileError`` for settings that are there and cannot be read: what they protect is not known.
    ///   Those of the system can be root's alone, and so is then what they name.
    package static func protected(_ base: BaseDirectories) throws(FileError) -> [FilePath] {
        var paths = variables.compactMap { environmentVariable($0) }
            .flatMap { Self.paths(in: $0, base.home) }
        if let file = environmentVariable("RESTIC_REPOSITORY_FILE") {
            let lines = try contents(of: FilePath(bytes: file)).split(separator: 0x0A)
            paths += lines.flatMap { Self.paths(in: Array($0), base.home) }
        }
        if let own = base.configurationHome?.path {
            paths += try Self.paths(inDirectory: own.appending("resval"), base.home)
        }
        do throws(FileError) {
            paths += try Self.paths(inDirectory: "/etc/resval", base.home)
        } catch  where error.code == .permissionDenied && effectiveUser() != 0 {
            // Units with items of another owner are foreign, and a repository is known by its shape, too.
        }
        return withParts(paths)
    }

    private static func paths(
        inDirectory directory: FilePath, _ home: FilePath?
    ) throws(FileError) -> [FilePath] {
        var names: [[UInt8]] = []
        try calls(on: directory, FileError.readingDirectory) { () throws(Errno) in
            do throws(Errno) {
                try forEachName(in: directory) { name in
                    if isSettings(name) { names.append(name) }
                    return true
                }
            } catch  where error == .noSuchFileOrDirectory || error == .notDirectory {
                // No settings. Links in a circle may have been meant to lead to some.
            }
        }
        var paths: [FilePath] = []
        for name in names {
            let settings = try contents(of: directory.pushing(FilePath(bytes: name)))
            paths += Self.paths(inSettings: settings, home)
        }
        return paths
    }

    /// Returns repositories and files, and the directories of a repository.
    static func withParts(_ paths: [FilePath]) -> [FilePath] {
        paths.flatMap { path in
            [path] + ["data", "index", "keys", "snapshots"].map { path.appending($0) }
        }
    }

    /// Whether a file in a directory for settings may be read with `--config`.
    static func isSettings(_ name: [UInt8]) -> Bool { name.suffix(5).elementsEqual(".toml".utf8) }

    /// Returns the directory of the repository that `resval-backup` uses without options: the one in
    /// `RESVAL_BACKUP_REPOSITORY`, or else in `backup.toml`. Empty when it is not on a local
    /// filesystem, or does not exist.
    package static func used(in environment: PolicyEnvironment) -> Set<FileIdentity> {
        let base = environment.base
        let variable = environmentVariable("RESVAL_BACKUP_REPOSITORY") ?? []
        var paths = Self.paths(in: variable, base.home)
        if variable.isEmpty {
            let file = base.configurationHome?.path.appending("resval").appending("backup.toml")
            // Where it cannot be read, none is known.
            let settings = file.flatMap { try? contents(of: $0) } ?? []
            paths = Self.repository(inSettings: settings, base.home)
        } else if paths.isEmpty {
            // Relative, unless it is on another machine: then there is no such path here.
            paths = [FilePath(bytes: variable)]
        }
        return Set(paths.compactMap { environment.localStatus(of: $0)?.identity })
    }

    /// Returns the paths in lines such as `repository = "/srv/backup"`.
    ///
    /// This does not parse TOML: every quoted text behind the name counts, so that what a parser
    /// would refuse is protected too.
    static func paths(inSettings contents: [UInt8], _ home: FilePath?) -> [FilePath] {
        ["repository", "password-file"].flatMap { values(of: $0, in: contents) }
            .flatMap { $0.texts }.flatMap { paths(in: $0, home) }
    }

    /// Returns the path of the repository that settings name; empty when it is on another machine.
    ///
    /// Only the value of the key counts: a plan stores what a comment names.
    static func repository(inSettings contents: [UInt8], _ home: FilePath?) -> [FilePath] {
        values(of: "repository", in: contents).filter(\.isAssigned).compactMap(\.texts.first)
            .flatMap { paths(in: $0, home) }
    }

    /// Returns the quoted texts behind a name, in quotes or not, at the start of lines.
    private static func values(
        of name: StaticString, in contents: [UInt8]
    ) -> [(isAssigned: Bool, texts: [[UInt8]])] {
        let (blank, tab) = (UInt8(ascii: " "), UInt8(ascii: "\t"))
        func isQuote(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
        }
        return contents.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let text = line.drop { $0 == blank || $0 == tab || isQuote($0) }
            let name = Array("\(name)".utf8)
            guard text.starts(with: name) else { return nil }
            var rest = text.dropFirst(name.count)
            if let first = rest.first, isQuote(first) { rest.removeFirst() }
            let parts = rest.split(omittingEmptySubsequences: false, whereSeparator: isQuote)
            return (
                rest.first { $0 != blank && $0 != tab } == UInt8(ascii: "="),
                parts.enumerated().filter { $0.offset % 2 == 1 }.map { Array($0.element) }
            )
        }
    }

    /// Returns the path of a repository or a file; empty for a relative path and for one on another
    /// machine.
    private static func paths(in value: [UInt8], _ home: FilePath?) -> [FilePath] {
        let bytes = value.trimmingPrefix("local:".utf8)
        if bytes.starts(with: "~/".utf8), let home {
            return [home.appending(FilePath(bytes: bytes.dropFirst(2)).components)]
        }
        let path = FilePath(bytes: bytes)
        return path.isAbsolute ? [path] : []
    }

    /// Returns what a file has, nothing where there is none.
    private static func contents(of file: FilePath) throws(FileError) -> [UInt8] {
        do throws(FileError) {
            return try contentsOfFile(file, limit: settingsLimit)
        } catch  where error.code == .noSuchFile || error.code == .notADirectory {
            return []
        }
    }

    private static let variables = [
        "RESVAL_BACKUP_REPOSITORY", "RESTIC_REPOSITORY", "RESTIC_REPOSITORY_FILE",
        "RESTIC_PASSWORD_FILE",
    ]
}
