import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

struct SetupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup", abstract: "Lead from nothing to a backup that a timer makes.",
        discussion: """
            Asks for what no option says, one question at a time: where the backup goes, and its \
            password. Then it writes the configuration, makes the repository and the first backup, and \
            enables the timer. Again, it changes nothing that is there and does what is missing.

            On a repository that is there it asks which of its machines this one continues, and takes \
            the settings back from there.

            EXAMPLES
              resval-backup setup
              resval-backup setup --check
              sudo resval-backup setup --system
            """)

    @Flag(help: "Only say what is missing: the exit code is 1 then.")
    var check = false

    @Option(
        help: ArgumentHelp(
            "Where to: a directory, sftp:, rest:, s3: and others of restic.", valueName: "location")
    )
    var repository: PathArgument?

    @Option(help: ArgumentHelp("What to back up (default: the home).", valueName: "path"))
    var source: [PathArgument] = []

    @Option(help: ArgumentHelp("A file that contains the password.", valueName: "file"))
    var passwordFile: PathArgument?

    @Option(help: ArgumentHelp("A command that prints the password.", valueName: "command"))
    var passwordCommand: String?

    @Option(help: ArgumentHelp("The machine of the repository to continue.", valueName: "name"))
    var host: String?

    @Flag(help: "Set up the machine, in /etc/resval.")
    var system = false

    @Flag(help: "Leave the timer out, and make the first backup now.")
    var noTimer = false

    @Flag(help: "Make backups also while you are not logged in.")
    var linger = false

    @Flag(help: "Also free space where a disk runs full.")
    var purge = false

    @Flag(name: [.short, .long], help: "Ask nothing.")
    var yes = false

    func validate() throws {
        guard passwordFile == nil || passwordCommand == nil else {
            throw ValidationError("give --password-file or --password-command, not both")
        }
    }

    func run() async throws {
        try requireUser()
        let configuration = try configurationOption()
        let given = [("--linger", linger), ("--purge", purge), ("--yes", yes)]
        let checks = try SetupChecks(
            configuration, isSystem: system, hasTimer: !noTimer,
            options: given.filter(\.1).map(\.0))
        if check {
            let missing = try await checks.missing()
            for line in missing { Messages.write(line) }
            if !missing.isEmpty { throw ExitCode(1) }
            return StandardOutput.shared.write(
                checks.hasTimer
                    ? "nothing is missing\n"
                    : "nothing is missing but the timer, which is not wanted\n")
        }
        guard yes || Messages.canAsk else {
            throw ValidationError(
                "there is no terminal to ask on: give --yes, and an option for each question")
        }
        if try !checks.isConfigured {
            try await begin(configuration, checks)
        } else {
            // Typed again, it changes nothing.
            if host != nil, try !SetupChecks.Note.continues.isThere(configuration) {
                Messages.write("--host has no effect, since there is a configuration already")
                throw ExitCode(1)
            }
            try checks.requireAgreement(
                repository: repository, source: source, passwordFile: passwordFile,
                passwordCommand: passwordCommand)
        }
        try await finish(configuration, checks)
    }

    /// Refuses root where a user may be meant, and a user where root is needed.
    private func requireUser() throws {
        let isRoot = effectiveUser() == 0
        if system ? isRoot : !isRoot || environmentValue("SUDO_UID") == nil { return }
        Messages.write(isRoot ? "sudo would set up root's own backup" : "--system needs root")
        Messages.write("for yours: resval-backup setup")
        Messages.write("for the machine: sudo resval-backup setup --system")
        throw ExitCode(1)
    }

    private func configurationOption() throws -> ConfigurationOption {
        var option = ConfigurationOption()
        option.config = nil
        if system {
            option.config = PathArgument(
                bytes: BackupSettings.systemDirectory.appending("backup.toml").bytes)
        } else if BackupSettings.defaultFile == nil {
            throw ValidationError("there is no home for the configuration: set HOME")
        }
        return option
    }

    // MARK: The configuration

    /// Asks what is to be backed up where, makes the repository, and writes the configuration.
    private func begin(_ configuration: ConfigurationOption, _ checks: SetupChecks) async throws {
        for line in SetupTimer.others() { Messages.write("another backup is there: \(line)") }
        guard let file = configuration.file else { return }
        var draft = SetupDraft(isSystem: system)
        draft.sources = source.isEmpty ? draft.sources : try source.map { try absolute($0) }
        draft.repository = try askForRepository()
        draft.takeKeys(from: inheritedEnvironment())
        var settings = try draft.settings()
        try confirmFilesystem(of: settings)
        let isThere = try await running { [draft] in try await draft.repositoryIsThere() }
        if let host, !isThere {
            Messages.write(
                "there is no repository at this location, so no machine \(host) to continue")
            throw ExitCode(1)
        }
        let doubt = isThere ? nil : try await confirmLocation(of: draft)
        var typed: String?
        (draft.password, typed) = try await askForPassword(draft, isThere: isThere)
        // Not before: who gives up leaves nothing.
        let directory = try SettingsDirectory(file.removingLastComponent())
        if draft.password == nil, let word = typed {
            let name = directory.freeName(like: "password")
            try directory.write(name, word + "\n")
            draft.password = ("password-file", try draft.written(directory.path.appending(name)))
        }
        settings = try draft.settings()
        let engine = try draft.engine(settings)
        var text = draft.text
        var continued: SnapshotList.OneSet?
        if isThere {
            let list = try await running { try await engine.list() }
            continued = try choose(among: list.sets, configuration)
            // The next backup would go on with it all the same.
            if continued?.name.configuration != configuration.name,
                let own = list.sets.first(where: {
                    $0.name.configuration == configuration.name && engine.isOwn($0.name)
                })?.snapshots.last
            {
                Messages.write(
                    "this machine goes on with \(own.machine) already (give that one's number, or "
                        + "--host \(ShellWord.quoted(Array(own.hostName.utf8))))")
                throw ExitCode(1)
            }
            if let newest = continued?.snapshots.last {
                if let old = try await formerSettings(in: newest, draft, file, engine) {
                    text = old
                    Messages.write(
                        "the settings are those of snapshot \(newest.shortIdentifier), without its "
                            + "commands")
                } else {
                    Messages.warn(
                        "the settings of that machine are not in snapshot \(newest.shortIdentifier): "
                            + "these are new ones, by which no snapshot is removed")
                    draft.hasRetention = false
                    if source.isEmpty {
                        draft.sources = try newest.sources.map { try SetupDraft.text(of: $0) }
                    }
                    _ = try draft.settings()
                    text = draft.text
                }
            }
        } else {
            // A disk may have been detached while the password was written down.
            guard engine.doubtAboutInitializing == doubt else {
                Messages.write(
                    "no repository is made: a disk was attached or detached meanwhile (run setup again)"
                )
                throw ExitCode(1)
            }
            try await running { try await engine.initialize() }
        }
        if let continued {
            // Before there is a configuration, with which setup would begin a backup anew.
            try SetupChecks.Note.continues.make(configuration)
            if continued.name.configuration == configuration.name {
                try await running { try await engine.takeOver(continued) }
            }
            // The next setup may meet another disk.
            if (try? await engine.requireKnown()) != nil { _ = try? await engine.noteRepository() }
        } else {
            try SetupChecks.Note.continues.remove(configuration)
        }
        try directory.write("backup.toml", text)
        Messages.write(
            about: file, "is the configuration; what may stand there: man resval-backup-run")
        if typed != nil { try SetupChecks.Note.passwordIsCopied.make(configuration) }
        guard let continued else { return }
        let machine = continued.snapshots.last?.machine ?? ""
        if continued.name.configuration == configuration.name {
            Messages.write("this machine continues \(machine)")
            Messages.write("put back: \(checks.restore)")
        } else {
            Messages.write(
                "the backup begins anew beside \(machine), whose configuration was elsewhere")
            if let host = continued.snapshots.last?.hostName {
                let option = "--host \(ShellWord.quoted(Array(host.utf8)))"
                Messages.write("put back: resval-backup restore\(checks.options) \(option) PATH")
            }
        }
        Messages.write("then go on: \(checks.setup)")
        throw ExitCode(1)
    }

    /// Returns the text of the configuration in a snapshot of the machine that is continued: the file of the
    /// same path, or at its place below a SOURCE, which may have been another home. nil where it has none.
    private func formerSettings(
        in snapshot: Snapshot, _ draft: SetupDraft, _ file: FilePath, _ engine: Restic
    ) async throws -> String? {
        let inHome: FilePath = ".config/resval/backup.toml"
        let files = [file] + (system ? [] : snapshot.sources.map { $0.pushing(inHome) })
        for file in files {
            let bytes = try await running {
                try await engine.content(of: file, in: snapshot, limit: settingsLimit)
            }
            if let bytes, let old = draft.text(from: String(decoding: bytes, as: UTF8.self)) {
                return old
            }
        }
        return nil
    }

    private func absolute(_ path: PathArgument) throws -> String {
        if path.bytes.first == UInt8(ascii: "~") {
            return try SetupDraft.text(of: FilePath(bytes: path.bytes))
        }
        return try SetupDraft.text(of: realPath(of: path.path))
    }

    private func ask(_ question: String, default value: String?, _ option: String) throws -> String
    {
        guard !yes else {
            guard let value else { throw ValidationError("give \(option) with --yes") }
            return value
        }
        while true {
            Messages.write(question + (value.map { " [\($0)]" } ?? ""))
            guard let answer = Messages.answer() else { throw ExitCode(1) }
            if !answer.isEmpty { return answer }
            if let value { return value }
        }
    }

    private func askForRepository() throws -> String {
        if let repository { return try SetupDraft.location(repository) }
        let named = environmentValue("RESVAL_BACKUP_REPOSITORY")
            .map { String(decoding: $0, as: UTF8.self) }
        while true {
            let answer = try ask(
                "where should the backup go: a directory, or sftp:, rest:, s3:?",
                default: named ?? (yes ? nil : SetupDraft.attachedDisk), "--repository")
            do {
                return try SetupDraft.location(PathArgument(bytes: answer.utf8))
            } catch let error as ValidationError where !yes {
                Messages.write(error.message)
            }
        }
    }

    /// Refuses a location where no repository can be made, and asks where there is a doubt.
    ///
    /// - Returns: the doubt; nil where there is none.
    private func confirmLocation(of draft: SetupDraft) async throws -> String? {
        let engine = try draft.engineWithoutPassword()
        try await running { try engine.requireUsableDirectory() }
        guard let doubt = engine.doubtAboutInitializing else { return nil }
        guard !yes else {
            Messages.write(
                "no repository is made, since \(doubt) (attach it, or set up without --yes, "
                    + "which asks)")
            throw ExitCode(1)
        }
        try confirm("about to make a new repository, although \(doubt)")
        return doubt
    }

    private func confirmFilesystem(of settings: BackupSettings) throws {
        guard let source = SetupChecks.sourceBesideRepository(settings) else { return }
        let fact = "is on the same filesystem as the repository, and is lost with it"
        if yes { return Messages.warn(about: source.bytes, fact) }
        if !Messages.confirm(about: source.bytes, fact) { throw ExitCode(1) }
    }

    // MARK: The password

    /// - Returns: the key and the value of the configuration; or what was typed, or made and copied.
    private func askForPassword(
        _ draft: SetupDraft, isThere: Bool
    ) async throws -> (setting: (key: String, value: String)?, typed: String?) {
        var setting: (key: String, value: String)?
        if let passwordFile {
            let path = try realPath(of: passwordFile.path)
            setting = ("password-file", try draft.written(path))
        } else if let passwordCommand {
            let command = ArgumentBytes.bytes(of: passwordCommand)
            setting = ("password-command", String(decoding: command, as: UTF8.self))
        } else if let file = environmentValue("RESTIC_PASSWORD_FILE") {
            setting = ("password-file", try draft.written(try realPath(of: FilePath(bytes: file))))
        }
        if let setting {
            // Before anything is written.
            guard isThere else { return (setting, nil) }
            var draft = draft
            draft.password = setting
            let engine = try draft.engine(try draft.settings())
            _ = try await running { try await engine.repositoryIdentifier() }
            return (setting, nil)
        }
        guard !yes else {
            throw ValidationError("give --password-file or --password-command with --yes")
        }
        guard isThere else { return (nil, try askForNewPassword()) }
        for _ in 0..<3 {
            Messages.write("there is a repository: what is its password? (it is not shown)")
            guard let answer = Messages.answer(isSecret: true) else { throw ExitCode(1) }
            // As restic reads it from a file.
            let word = answer.trimmingWhitespace
            var settings = try draft.settings()
            settings.password = .text(word)
            do {
                _ = try await draft.engine(settings).repositoryIdentifier()
                return (nil, word)
            } catch let error as BackupError where error.code == .wrongPassword {
                Messages.write(error.message)
            }
        }
        throw ExitCode(BackupError.Code.wrongPassword.exitCode)
    }

    private func askForNewPassword() throws -> String {
        Messages.write("the repository's password: type one, or Enter for a new one")
        guard let word = Messages.answer(isSecret: true) else { throw ExitCode(1) }
        guard word == word.trimmingWhitespace else {
            Messages.write("a password cannot begin or end with a space")
            throw ExitCode(1)
        }
        guard word.isEmpty else {
            Messages.write("once more")
            guard let again = Messages.answer(isSecret: true) else { throw ExitCode(1) }
            guard again == word else {
                Messages.write("they differ")
                throw ExitCode(1)
            }
            return word
        }
        let made = SetupDraft.newPassword()
        guard let terminal = try? openFile(FilePath("/dev/tty"), flags: [.writeOnly, .noTerminal])
        else {
            throw ValidationError("there is no terminal to show the password on")
        }
        let shown = OwnedDescriptor(terminal)
        let text =
            "\n    \(made)\n\nWrite it down, and keep it outside this machine: without it the backup is lost.\n"
        try writeFile(shown.descriptor, Array(text.utf8))
        for _ in 0..<3 {
            Messages.write("its last five characters, from what you wrote down:")
            guard let answer = Messages.answer() else { throw ExitCode(1) }
            if answer == made.suffix(5) { return made }
        }
        Messages.write("nothing was written")
        throw ExitCode(1)
    }

    // MARK: The machine

    private func choose(
        among sets: [SnapshotList.OneSet], _ configuration: ConfigurationOption
    ) throws -> SnapshotList.OneSet? {
        let machines = sets.compactMap { set in set.snapshots.last.map { (set: set, newest: $0) } }
            .sorted { $0.newest.time > $1.newest.time }
        if let host {
            let named = machines.filter { $0.newest.hostName == host }
            guard
                let machine = named.first(where: { $0.set.name.configuration == configuration.name }
                )
                    ?? named.first
            else {
                Messages.write("no snapshot is of this machine: \(host)")
                for machine in machines { Messages.write("  \(machine.newest.machine)") }
                throw ExitCode(1)
            }
            return machine.set
        }
        guard !machines.isEmpty else { return nil }
        for (index, machine) in machines.enumerated() {
            Messages.write("  \(index + 1)  \(machine.newest.machine)")
        }
        guard !yes else {
            Messages.write("this machine continues none of these (one: --host NAME)")
            return nil
        }
        let own = machines.firstIndex { $0.set.name.configuration == configuration.name }
        while true {
            let answer = try ask(
                "which of these does this machine continue? 0 for none",
                default: own.map { "\($0 + 1)" } ?? "0", "--host")
            guard let number = Int(answer), number <= machines.count, number >= 0 else { continue }
            return number == 0 ? nil : machines[number - 1].set
        }
    }

    // MARK: What follows

    private func finish(_ configuration: ConfigurationOption, _ checks: SetupChecks) async throws {
        let settings = try configuration.settings()
        if !yes { try checks.askForCopy(settings) }
        var isIncomplete = false
        if try checks.hasNoBackup {
            let words = configuration.config.map { ["--config", $0.path.string] } ?? []
            do {
                let run = try RunCommand.parse(words)
                try await run.run()
            } catch let code as ExitCode where code.rawValue == 3 {
                // It was made, and what it lacks was named.
                isIncomplete = true
            }
        }
        if noTimer {
            try SetupChecks.Note.noTimer.make(configuration)
        } else {
            // Also where it cannot be enabled: it is wanted from now on.
            try SetupChecks.Note.noTimer.remove(configuration)
            let timer = SetupTimer(settings, isSystem: system)
            let note = SetupChecks.Note.timerIsTried
            if try !timer.isEnabled || !note.isThere(configuration) {
                try note.make(configuration)
            }
            try enable(timer, checks)
        }
        if isIncomplete { throw ExitCode(3) }
    }

    private func enable(_ timer: SetupTimer, _ checks: SetupChecks) throws {
        if let obstacle = timer.obstacle {
            Messages.write(obstacle)
            throw ExitCode(1)
        }
        let isNew = try !timer.isEnabled || !checks.wasStartedByTimer
        if isNew {
            let ended = timer.enableAndRun()
            guard ended, try checks.wasStartedByTimer else {
                let wait = ended ? try checks.wait : nil
                let what =
                    wait.map { "waits: \($0) (then go on: \(checks.setup))" }
                    ?? "\(ended ? "made none" : "failed") (see: \(timer.journal))"
                Messages.write("the backup that systemd started \(what)")
                throw ExitCode(1)
            }
        }
        let asks = isNew && !yes
        if purge || asks && wants("free space, too, where a disk runs full") {
            try enablePurge(timer)
        }
        if !timer.lingers {
            let isWanted = linger || asks && wants("make backups also while you are not logged in")
            if isWanted { timer.linger() }
            if !timer.lingers {
                Messages.write(timer.onlyWhileLoggedIn)
                if isWanted { throw ExitCode(1) }
            }
        }
        StandardOutput.shared.write(
            "\(timer.unit).timer makes backups: resval-backup status\(checks.options)\n")
    }

    private func wants(_ what: String) -> Bool {
        Messages.write("\(what)? [y/N]")
        return ["y", "yes"].contains(Messages.answer()?.lowercased())
    }

    private func enablePurge(_ timer: SetupTimer) throws {
        guard let home = currentBaseDirectories().configurationHome?.path else { return }
        let directory = try SettingsDirectory(home.appending("resval"))
        do throws(FileError) {
            try directory.write("purge.toml", "# See man resval-purge-watch.\nvolumes = [\"~\"]\n")
        } catch  where error.code == .fileExists {
            // It stays as it is.
        }
        if !timer.enablePurge() { throw ExitCode(1) }
    }
}

extension String {
    /// The text without the white space around it, which restic takes off a password in a file.
    fileprivate var trimmingWhitespace: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}

extension Snapshot {
    /// The machine that made it, as people know it.
    fileprivate var machine: String {
        let sources = sources.map { NameEscaping.text($0.bytes) }.joined(separator: ", ")
        return "\(userName) on \(hostName), \(time.localMinute), \(sources)"
    }
}
