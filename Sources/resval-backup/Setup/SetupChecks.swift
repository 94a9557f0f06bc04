import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import ResourceValues
import SystemPackage

/// What a backup needs, and whether it is there.
struct SetupChecks {
    private let configuration: ConfigurationOption
    private let isSystem: Bool
    /// Whether a timer is wanted: not where it was left out, now or the last time.
    let hasTimer: Bool
    /// The command that does what is missing.
    let setup: String
    /// What other commands need to use the same configuration.
    let options: String

    /// - Parameter options: others that were given, which it repeats.
    init(
        _ configuration: ConfigurationOption, isSystem: Bool, hasTimer: Bool, options: [String]
    ) throws {
        (self.configuration, self.isSystem) = (configuration, isSystem)
        self.options =
            configuration.config.map { " --config \(ShellWord.quoted($0.bytes))" } ?? ""
        self.hasTimer = try hasTimer && !Note.noTimer.isThere(configuration)
        let own = (isSystem ? ["--system"] : []) + (self.hasTimer ? [] : ["--no-timer"])
        setup = (["resval-backup setup"] + own + options).joined(separator: " ")
    }

    var isConfigured: Bool {
        get throws { try configuration.file.map { try itemExists($0) } ?? false }
    }

    private var status: RunStatus? {
        get throws { try configuration.stateDirectory().flatMap { try RunStatus.read(in: $0) } }
    }

    var hasNoBackup: Bool {
        get throws {
            let status = try status
            return status?.snapshot == nil && status?.lastSnapshot ?? status?.lastCleanRun == nil
        }
    }

    /// Whether a run that was started as the timer does made a backup since the timer was wanted.
    var wasStartedByTimer: Bool {
        get throws {
            guard let last = try status?.lastTimedRun else { return false }
            return try Note.timerIsTried.time(configuration).map { $0 <= last } ?? true
        }
    }

    /// What a due backup waits for, in words; nil where it does not.
    var wait: String? {
        get throws {
            guard let directory = try configuration.stateDirectory() else { return nil }
            if try RunLock.isHeld(in: directory) { return "another run, which has not ended" }
            return try status?.waitingFor
        }
    }

    /// What is missing, in sentences with how to go on.
    func missing() async throws -> [String] {
        guard try isConfigured, let file = configuration.file else {
            return ["there is no configuration (make it: \(setup))"]
        }
        let settings = try configuration.settings()
        var missing: [String] = []
        if try isOnlyCopy(settings) {
            missing.append(
                "the only known copy of the password is lost with what is backed up, or with the repository "
                    + "(write it down; then: \(setup))")
        }
        if let source = Self.sourceBesideRepository(settings) {
            missing.append(
                "\(NameEscaping.text(source.bytes)) is on the same filesystem as the repository, and is lost "
                    + "with it (name a repository on another disk in \(ShellWord.quoted(file.bytes)))"
            )
        }
        do {
            let engine = try RepositoryOptions(configuration).engine()
            try await engine.requireKnown()
            _ = try await engine.repositoryIdentifier()
        } catch let error as BackupError {
            missing.append(Advice.completed(error.description))
        }
        if try hasNoBackup {
            missing.append(
                try Note.continues.isThere(configuration)
                    ? "nothing was backed up since this machine continues another (put back: "
                        + "\(restore); then: \(setup))"
                    : "no backup was made yet (make it: \(setup))")
        }
        guard hasTimer else { return missing }
        let timer = SetupTimer(settings, isSystem: isSystem)
        if let obstacle = timer.obstacle {
            missing.append(obstacle)
        } else if try !timer.isEnabled || !wasStartedByTimer {
            missing.append("no timer makes backups (enable it: \(setup))")
        }
        return missing
    }

    /// Refuses options that the configuration contradicts, which is not edited.
    func requireAgreement(
        repository: PathArgument?, source: [PathArgument], passwordFile: PathArgument?,
        passwordCommand: String?
    ) throws {
        let settings = try configuration.settings()
        guard let file = configuration.file else { return }
        var differing: SettingsKey?
        if let path = passwordFile?.path {
            var known: FilePath?
            if case .file(let path) = settings.password { known = existingRealPath(of: path) }
            if known != existingRealPath(of: path) { differing = .passwordFile }
        }
        if let passwordCommand, settings.password != .command(passwordCommand) {
            differing = .passwordCommand
        }
        let sources = source.map { existingRealPath(of: $0.path) }
        if !sources.isEmpty, sources != settings.sources.map({ existingRealPath(of: $0) }) {
            differing = .sources
        }
        if let repository {
            let (given, kept) = (repository.bytes, Array(settings.repository.utf8))
            let places = [given, kept].map { RepositoryLocation(bytes: $0).directory }
                .map { $0.map(existingRealPath(of:)) }
            if given != kept, places[0] == nil || places[0] != places[1] { differing = .repository }
        }
        guard let differing else { return }
        let error = try SettingsReader(settingsText(of: file).text).complaint(
            differing,
            "is there with another value, which stays (edit the file, or leave the option out)")
        Messages.write(about: file.bytes, error.sentence)
        throw ExitCode(1)
    }

    /// The command that puts back what the machine had that this one continues.
    var restore: String { "resval-backup restore\(options) --snapshot latest PATH" }

    // MARK: The password

    /// Whether every copy of the password that is known is lost with the SOURCEs, or with the repository.
    private func isOnlyCopy(_ settings: BackupSettings) throws -> Bool {
        let copy: FilePath
        switch settings.password {
        case .environment, .command: return false
        case .file(let path): copy = path
        case .text:
            guard let file = configuration.file else { return false }
            copy = file
        }
        if try Note.passwordIsCopied.isThere(configuration) { return false }
        // A link can lead there, too.
        let places = [copy, existingRealPath(of: copy)]
        func areHeld(by directory: FilePath) -> Bool {
            places.contains {
                $0.isHeld(by: directory) || $0.isHeld(by: existingRealPath(of: directory))
            }
        }
        let place = RepositoryLocation(bytes: Array(settings.repository.utf8)).directory
        let isBeside = place.map { areHeld(by: $0.removingLastComponent()) } ?? false
        return isBeside || settings.sources.contains { areHeld(by: $0) }
    }

    /// Asks for the end of the password, where no other copy of it is known.
    func askForCopy(_ settings: BackupSettings) throws {
        guard try isOnlyCopy(settings) else { return }
        var word = ""
        if case .text(let text) = settings.password { word = text }
        if case .file(let path) = settings.password {
            word = String(decoding: try contentsOfFile(path, limit: 1 << 16), as: UTF8.self)
            while word.last?.isNewline == true { word.removeLast() }
        }
        Messages.write("a copy of the password has to be outside this machine")
        Messages.write("its last five characters, from that copy (Enter: later):")
        guard let answer = Messages.answer(), !answer.isEmpty else { return }
        if answer == word.suffix(5) {
            try Note.passwordIsCopied.make(configuration)
        } else {
            Messages.warn("that is not how the password ends")
        }
    }

    /// What was answered once and for all: an empty file of the configuration's state.
    enum Note: String {
        case passwordIsCopied = "password-copied"
        case noTimer = "no-timer"
        /// What another machine had is to be put back first: a backup without it would be less.
        case continues
        /// The timer has to make a backup, which proves that it can.
        case timerIsTried = "timer-tried"

        private func file(_ configuration: ConfigurationOption) throws(FileError) -> FilePath? {
            try configuration.stateDirectory()?.appending(rawValue)
        }

        func isThere(_ configuration: ConfigurationOption) throws(FileError) -> Bool {
            guard let file = try file(configuration) else { return false }
            return try calls(on: file) { () throws(Errno) in try itemExists(file) }
        }

        /// When it was made, at the earliest time where that is in the future, since the clock was wrong; nil
        /// where it is not there.
        func time(_ configuration: ConfigurationOption) throws(FileError) -> FileTime? {
            guard try isThere(configuration), let file = try file(configuration) else { return nil }
            let time = try calls(on: file) { () throws(Errno) in
                try file.status().contentModificationTime
            }
            return time <= FileTime.now ? time : FileTime(seconds: .min, nanoseconds: 0)
        }

        func make(_ configuration: ConfigurationOption) throws(FileError) {
            guard let file = try file(configuration) else { return }
            try makeBackupDirectory(file.removingLastComponent())
            try file.writePrivateFile([])
        }

        func remove(_ configuration: ConfigurationOption) throws(FileError) {
            guard try isThere(configuration), let file = try file(configuration) else { return }
            try calls(on: file) { () throws(Errno) in try removeFile(file) }
        }
    }

    // MARK: The filesystem

    /// A SOURCE that is on the filesystem of the repository; nil where none is.
    static func sourceBesideRepository(_ settings: BackupSettings) -> FilePath? {
        var place = RepositoryLocation(bytes: Array(settings.repository.utf8)).directory
        // It may not be there yet.
        while let path = place, (try? itemExists(path)) != true {
            place = path.components.isEmpty ? nil : path.removingLastComponent()
        }
        guard let device = try? place?.status().identity.device else { return nil }
        return settings.sources.first { (try? $0.status().identity.device) == device }
    }
}
