import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

struct SetupDraft {
    /// What to back up, as it is written.
    var sources: [String]
    /// The repository, as it is written.
    var repository = ""
    /// The key of the password, and its value.
    var password: (key: String, value: String)?
    /// The variables that the repository's server needs.
    private var variables: [(name: String, value: String)] = []
    /// Whether snapshots are removed in time. Not those of a machine whose settings are not known.
    var hasRetention = true
    private let home: FilePath?

    init(isSystem: Bool) {
        sources = isSystem ? ["/"] : ["~"]
        home = isSystem ? nil : currentBaseDirectories().home
    }

    var text: String {
        """
        # Written by resval-backup setup. What may stand here: man resval-backup-run.
        sources = [\(sources.map(quoted).joined(separator: ", "))]
        \(place)
        verify = "weekly"
        \(hasRetention ? Self.retention : "")\(environment)
        """
    }

    private static let retention = """

        [retention]
        keep-daily = 7
        keep-weekly = 5
        keep-monthly = 12
        keep-yearly = 10

        """

    private var place: String {
        let word = password.map { "\n\($0.key) = \(quoted($0.value))" } ?? ""
        return "repository = \(quoted(repository))" + word
    }

    private var environment: String {
        guard !variables.isEmpty else { return "" }
        return variables.reduce("\n[environment]\n") { $0 + "\($1.name) = \(quoted($1.value))\n" }
    }

    /// Returns an older text with this repository, password and environment in place of its own, and its
    /// commands as comments: another writer of the repository can have put them there. nil where it is
    /// not a configuration, or would bring such a thing in another way.
    func text(from old: String) -> String? {
        let replaced = /\s*(repository|password|password-file|password-command)\s*=.*/
        let command = /\s*(before|after|on-failure)\s*=.*/
        var lines: [Substring] = []
        var isAtTop = true
        var isEnvironment = false
        for line in old.split(separator: "\n", omittingEmptySubsequences: false) {
            let word = line.drop(while: \.isWhitespace)
            if word.hasPrefix("[") {
                if isAtTop { lines += [place[...], ""] }
                isAtTop = false
                isEnvironment = word.hasPrefix("[environment]")
            }
            if isEnvironment || isAtTop && line.wholeMatch(of: replaced) != nil { continue }
            lines.append(isAtTop && line.wholeMatch(of: command) != nil ? "# " + line : line)
        }
        if isAtTop { lines.append(place[...]) }
        let text = lines.joined(separator: "\n") + environment
        guard let read = try? BackupSettings(text, home: home), let own = try? settings(),
            read.commands.isEmpty, read.variables == own.variables, read.password == own.password,
            read.repository == own.repository
        else { return nil }
        return text
    }

    func settings() throws -> BackupSettings {
        do throws(SettingsError) {
            return try BackupSettings(text, home: home)
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// Returns restic for settings that are not written yet.
    func engine(_ settings: BackupSettings) throws -> Restic {
        try RepositoryAccess(
            location: RepositoryLocation(bytes: Array(settings.repository.utf8)), origin: .option,
            passwordOption: nil,
            environment: settings.environment(replacingIn: inheritedEnvironment()),
            uploadLimit: settings.uploadLimit?.bytes
        ).engine()
    }

    /// Returns restic with an invalid password, for what needs none.
    func engineWithoutPassword() throws -> Restic {
        var settings = try settings()
        settings.password = .text("-")
        return try engine(settings)
    }

    /// Whether there is a repository, which is asked with an invalid password.
    func repositoryIsThere() async throws -> Bool {
        let engine = try engineWithoutPassword()
        do throws(BackupError) {
            _ = try await engine.repositoryIdentifier()
            return true
        } catch {
            if error.code == .wrongPassword { return true }
            guard error.code == .noRepository, !engine.isDetached else { throw error }
            return false
        }
    }

    /// Takes over the keys of the repository's server from the environment.
    mutating func takeKeys(from inherited: [[UInt8]]) {
        let names = [
            "s3": ["AWS_"], "b2": ["B2_"], "azure": ["AZURE_"], "gs": ["GOOGLE_"],
            "swift": ["OS_", "ST_"], "rest": ["RESTIC_REST_"], "rclone": ["RCLONE_"],
        ]
        let scheme = String(repository.prefix { $0 != ":" })
        for variable in inherited.map({ String(decoding: $0, as: UTF8.self) }) {
            guard let prefixes = names[scheme],
                prefixes.contains(where: { variable.hasPrefix($0) }),
                let equals = variable.firstIndex(of: "=")
            else { continue }
            variables.append(
                (String(variable[..<equals]), String(variable[variable.index(after: equals)...])))
        }
        if !variables.isEmpty {
            let list = variables.map(\.name).joined(separator: ", ")
            Messages.write("the configuration gets from this environment: \(list)")
        }
    }

    /// Returns a path as it is written: below the home with `~`.
    func written(_ path: FilePath) throws -> String {
        guard let home, path.isHeld(by: home), path != home else { return try Self.text(of: path) }
        let rest = FilePath(root: nil, path.components.dropFirst(home.components.count))
        return "~/" + (try Self.text(of: rest))
    }

    /// - Throws: `ValidationError` for a path that a configuration cannot name.
    static func text(of path: FilePath) throws -> String {
        guard let text = String(validating: path.bytes, as: UTF8.self) else {
            throw ValidationError("the configuration cannot name a path that is not UTF-8")
        }
        return text
    }

    /// Returns a text as TOML. Other control characters stay, which ``settings()`` refuses.
    private func quoted(_ text: String) -> String {
        text.unicodeScalars.reduce("\"") { quoted, scalar in
            switch scalar {
            case "\"", "\\": quoted + "\\\(scalar)"
            case "\n": quoted + "\\n"
            default: quoted + String(scalar)
            }
        } + "\""
    }

    /// Returns a location as it is written.
    ///
    /// - Throws: `ValidationError` for one that means something else in another directory.
    static func location(_ argument: PathArgument) throws -> String {
        guard let text = String(validating: argument.bytes, as: UTF8.self) else {
            throw ValidationError("the configuration cannot name a path that is not UTF-8")
        }
        let isPath = ["/", "~/", "local:/"].contains { text.hasPrefix($0) }
        guard isPath || text.prefix(while: { $0 != "/" }).contains(":") else {
            throw ValidationError(
                "give an absolute path, or a location such as sftp:user@host:/path")
        }
        return text
    }

    /// A directory on a disk that is attached, and where this user can write; nil where none is.
    static var attachedDisk: String? {
        let places: [(top: FilePath, depth: Int)] = [("/run/media", 4), ("/media", 3), ("/mnt", 2)]
        let mounts = (try? MountTable.current())?.mounts.filter { $0.category == .local } ?? []
        return mounts.map(\.mountPoint).first { point in
            places.contains { point.isHeld(by: $0.top) && point.components.count <= $0.depth }
                && (try? point.isAccessible(for: .write)) == true
        }?.appending("resval-backup").string
    }

    /// Returns a password of 125 random bits, without characters that look like others.
    static func newPassword() -> String {
        let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")
        return (0..<25).map { index in
            (index > 0 && index % 5 == 0 ? "-" : "") + String(letters.randomElement() ?? "x")
        }.joined()
    }
}
