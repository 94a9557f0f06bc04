import SystemCalls
import SystemPackage
import TextFormats

extension BackupError {
    static let interrupted = BackupError(
        .interrupted, "stopped", advice: "nothing was half done: run the command again")
}

extension Restic {
    /// Returns the error that restic's exit code describes, or, where that is 1, its messages.
    func failure(_ end: ResticEnd) -> BackupError {
        let text = FailureText(end.errors.lines)
        if end.code == 130 || end.code == -SignalNumber.interrupt { return .interrupted }
        if end.code < 0 {
            return BackupError(
                .other, "restic was ended by signal \(-end.code)",
                advice: "run the command again")
        }
        for cause in [
            refusal, absence, password, lock, existence, space, permission, damage,
        ] {
            if let error = cause(text, end.code) { return error }
        }
        return BackupError(.other, "restic: \(text.summary(code: end.code))")
    }

    /// The error for credentials that a server refuses. S3 says of an unknown key that it "does not
    /// exist", as others say of a repository.
    private func refusal(_ text: FailureText, _ code: Int32) -> BackupError? {
        let signs = [
            "Access Key Id you provided", "request signature we calculated", "Access Denied",
            "Key ID ($AWS_ACCESS_KEY_ID) is empty", "Secret ($AWS_SECRET_ACCESS_KEY) is empty",
            "unexpected HTTP response (401)",
        ]
        let summary = text.summary(code: code)
        guard signs.contains(where: summary.contains) else { return nil }
        return BackupError(
            .unreachable, "the server refuses the credentials: \(summary)",
            advice: "check the user name and password in its location, or for S3 "
                + "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    }

    private func absence(_ text: FailureText, _ code: Int32) -> BackupError? {
        if code == 10 { return noRepository }
        guard text.line(containing: "unable to open config file: ") != nil else { return nil }
        return BackupError(
            .unreachable, "the repository cannot be reached: \(text.summary(code: code))")
    }

    /// The error for a location without a repository.
    var noRepository: BackupError {
        BackupError(
            .noRepository, "there is no repository",
            advice: "check --repository, or make one: resval-backup init",
            path: repository.directory)
    }

    /// What gives the password, in words, in the order in which restic looks for it.
    private var passwordSource: String {
        if let file = passwordFile { return NameEscaping.text(file) }
        if environment.value("RESTIC_PASSWORD_COMMAND") != nil { return "what its command prints" }
        return environment.value("RESTIC_PASSWORD_FILE").map { NameEscaping.text($0) }
            ?? "the password of the configuration, or RESTIC_PASSWORD"
    }

    private func password(_ text: FailureText, _ code: Int32) -> BackupError? {
        if code == 12 {
            return BackupError(
                .wrongPassword, "the password is wrong", advice: "check \(passwordSource)")
        }
        if let line = text.line(containing: "Resolving password failed: ") {
            return BackupError(.noPassword, "the password cannot be read: \(line)")
        }
        if text.line(containing: "an empty password is not allowed") != nil {
            return BackupError(
                .noPassword, "the password is empty", advice: "write one into the password file")
        }
        return nil
    }

    private func lock(_ text: FailureText, _ code: Int32) -> BackupError? {
        let isUnreadable = text.line(containing: "invalid lock file") != nil
        guard code == 11 || isUnreadable else { return nil }
        let holder =
            text.line(containing: "repository is already locked")
            .flatMap { FailureText.rest(of: $0, after: " by ") }
            ?? (isUnreadable ? "a lock that cannot be read" : "another process")
        let since = text.line(containing: "lock was created at").map { ": \($0)" } ?? ""
        return BackupError(
            .locked, "the repository is locked by \(holder)\(since)", advice: lockAdvice,
            path: repository.directory)
    }

    private func existence(_ text: FailureText, _ code: Int32) -> BackupError? {
        guard text.line(containing: "config file already exists") != nil else { return nil }
        return BackupError(
            .repositoryExists, "there is a repository already", advice: "use it as it is",
            path: repository.directory)
    }

    private func space(_ text: FailureText, _ code: Int32) -> BackupError? {
        guard text.line(containing: "no space left on device") != nil else { return nil }
        return BackupError(
            .noSpace, "there is no space left on the repository's device",
            advice: "make room and run the command again; what was stored so far is used",
            path: repository.directory)
    }

    private func permission(_ text: FailureText, _ code: Int32) -> BackupError? {
        let line =
            text.line(containing: "permission denied")
            ?? text.line(containing: "read-only file system")
        guard let line else { return nil }
        return BackupError(
            .notWritable, "the repository cannot be used: \(line)",
            advice: "check its owner, permissions and mount options", path: repository.directory)
    }

    private func damage(_ text: FailureText, _ code: Int32) -> BackupError? {
        let signs = [
            "panic: ", "Unmarshal:", " not found in repository", "ciphertext verification failed",
            "invalid data returned",
        ]
        guard signs.contains(where: { text.line(containing: $0) != nil }) else { return nil }
        return BackupError(
            .damaged, "the repository is damaged: \(text.summary(code: code))",
            advice: "check it: resval-backup verify --read-data", path: repository.directory)
    }
}

/// The messages that restic printed before it ended.
struct FailureText {
    private let lines: [String]

    init(_ lines: [[UInt8]]) {
        self.lines = lines.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the first line that contains a phrase, without `Fatal:` and what precedes it, since
    /// restic does not end the line of an unlocking error; nil if no line contains the phrase.
    func line(containing phrase: String) -> String? {
        lines.first { $0.contains(phrase) }.map(Self.withoutFatal)
    }

    /// Returns the most informative line about the end.
    func summary(code: Int32) -> String {
        let line = lines.last { $0.contains("Fatal: ") } ?? lines.first
        return line.map(Self.withoutFatal) ?? "exit code \(code)"
    }

    /// Returns the part of a line after a phrase; nil when the line does not contain the phrase.
    static func rest(of line: String, after phrase: String) -> String? {
        line.firstRange(of: phrase).map { String(line[$0.upperBound...]) }
    }

    private static func withoutFatal(_ line: String) -> String {
        rest(of: line, after: "Fatal: ") ?? line
    }
}
