import ResourceValues
import SystemCalls
import SystemPackage

/// The message contains no path of the user's, which may have bytes that control a terminal. Match
/// on the code.
package struct BackupError: Error, Sendable, Hashable {
    package enum Code: Sendable, Hashable {
        /// There is no program `restic` on `PATH`, or it is older than 0.18.
        case engineMissing
        /// There is no repository at the location, or there is one already.
        case noRepository, repositoryExists
        case locked
        /// The password is not one of the repository's; or none was given, or it could not be read.
        case wrongPassword, noPassword
        /// The repository cannot be reached: a network error, or permissions.
        case unreachable
        /// The repository cannot be written to: permissions, or a read-only filesystem.
        case notWritable
        /// There is no space left, in the repository or at a restore's target.
        case noSpace
        case damaged
        case noSnapshot
        case noRecord
        /// The engine's answer is not one that this program understands.
        case unexpectedAnswer
        case interrupted
        /// Several sets of SOURCEs match, and one must be named.
        case ambiguousSources
        /// Any other failure; the message is the engine's own.
        case other

        /// The exit code of the command line tool, the same as restic's.
        package var exitCode: Int32 {
            switch self {
            case .noRepository: 10
            case .locked: 11
            case .wrongPassword: 12
            case .ambiguousSources: 64
            case .interrupted: 130
            default: 1
            }
        }

        /// Whether another snapshot of the same repository may still be readable: true except for
        /// failures of the engine or the repository as a whole, and for interruption.
        package var mayConcernOneSnapshot: Bool {
            let codes: [Code] = [
                .engineMissing, .noRepository, .locked, .wrongPassword, .noPassword, .unreachable,
                .interrupted,
            ]
            return !codes.contains(self)
        }
    }

    package var code: Code
    package var message: String
    /// How to proceed; nil when there is nothing useful to say.
    package var advice: String?
    /// The file or directory concerned; nil when the error concerns no file.
    package var path: FilePath?

    package init(_ code: Code, _ message: String, advice: String? = nil, path: FilePath? = nil) {
        self.code = code
        self.message = message
        self.advice = advice
        self.path = path
    }
}

extension BackupError: CustomStringConvertible {
    /// The message and the advice, without the path.
    package var description: String {
        guard let advice else { return message }
        return "\(message) (\(advice))"
    }
}

extension BackupError {
    static let interrupted = BackupError(
        .interrupted, "stopped", advice: "nothing was half done: run the command again")
}

/// - Parameter path: the file concerned; nil when the error names it or concerns no file.
package func backupError(_ error: any Error, path: FilePath? = nil) -> BackupError {
    if let error = error as? BackupError { return error }
    if error is CancellationError { return .interrupted }
    let error = FileError(error, of: path)
    let code: BackupError.Code =
        switch error.code {
        case .noSpace, .quotaExceeded: .noSpace
        case .permissionDenied, .readOnlyFilesystem: .notWritable
        default: .other
        }
    return BackupError(code, error.message, advice: error.advice, path: error.path ?? path)
}

extension Restic {
    /// Returns the error that restic's exit code describes, or, where that is 1, its messages.
    func failure(_ end: ResticEnd) -> BackupError {
        switch end.code {
        case 130, -SignalNumber.interrupt: return .interrupted
        case ..<0:
            return BackupError(
                .other, "restic was ended by signal \(-end.code)", advice: "run the command again")
        case 10: return noRepository
        case 11: return locked(end.errors)
        case 12:
            return BackupError(
                .wrongPassword, "the password is wrong", advice: "check \(passwordSource)")
        default: break
        }
        if end.errors.line(containing: "repository already contains ") != nil {
            return lostConfig("keys or snapshots")
        }
        if end.errors.line(containing: "invalid lock file") != nil { return locked(end.errors) }
        for cause in Self.causes {
            for sign in cause.signs {
                guard let line = end.errors.line(containing: sign) else { continue }
                // Of a full disk the line tells no more.
                let details = cause.code == .noSpace ? "" : ": \(line)"
                return BackupError(
                    cause.code, cause.message + details, advice: cause.advice,
                    path: repository.directory)
            }
        }
        return BackupError(.other, "restic: \(end.summary)")
    }

    /// What restic says of failures that have no exit code of their own. The first that it says counts.
    private static let causes:
        [(signs: [String], code: BackupError.Code, message: String, advice: String?)] = [
            (
                [
                    "unable to open config file: ", "unable to start the sftp session",
                    "error talking HTTP to rclone",
                ], .unreachable, "the repository cannot be reached",
                "check the location, and the user name and password for it"
            ),
            (
                ["Resolving password failed: "], .noPassword, "the password cannot be read", nil
            ),
            (
                ["an empty password is not allowed"], .noPassword, "the password is empty",
                "write one into the password file"
            ),
            (
                ["config file already exists", "config already initialized"], .repositoryExists,
                "there is a repository already", "use it as it is"
            ),
            (
                ["no space left on device"], .noSpace,
                "there is no space left on the repository's device",
                "make room by removing other files there, or snapshots that are not needed: "
                    + "resval-backup forget --keep-last N --prune; nothing is lost, and the next "
                    + "run uses what was stored so far"
            ),
            (
                ["permission denied", "read-only file system"], .notWritable,
                "the repository cannot be used", "check its owner, permissions and mount options"
            ),
            (
                [
                    "panic: ", "Unmarshal:", " not found in repository",
                    "ciphertext verification failed", "invalid data returned",
                ], .damaged, "the repository is damaged",
                "check it: resval-backup verify --read-data"
            ),
        ]

    /// The error for a location without a repository. Where one was, none is to be made.
    var noRepository: BackupError {
        isGone
            ?? BackupError(
                .noRepository, "there is no repository",
                advice: "check --repository, or make one: resval-backup init",
                path: repository.directory)
    }

    private func locked(_ errors: ErrorOutput) -> BackupError {
        let isUnreadable = errors.line(containing: "invalid lock file") != nil
        let holder =
            errors.line(containing: "repository is already locked")?.rest(after: " by ")
            ?? (isUnreadable ? "a lock that cannot be read" : "another process")
        let since = errors.line(containing: "lock was created at").map { ": \($0)" } ?? ""
        return BackupError(
            .locked, "the repository is locked by \(holder)\(since)",
            advice: "wait until it is done; the lock of a process that died is removed when it was "
                + "seen unchanged for 31 minutes, unless the repository is on a FUSE filesystem",
            path: repository.directory)
    }

    private var passwordSource: String {
        (passwordFile ?? environment.value("RESTIC_PASSWORD_FILE")).map { NameEscaping.text($0) }
            ?? "what gives it: the configuration, RESTIC_PASSWORD or RESTIC_PASSWORD_COMMAND"
    }
}
