import ResourceValues
import SystemCalls
import SystemPackage

/// The reason why a backup engine could not do what was requested.
///
/// The message contains no path of the user's, which may have bytes that control a terminal. Match
/// on the code.
package struct BackupError: Error, Sendable, Hashable {
    /// The kind of failure.
    package enum Code: Sendable, Hashable {
        /// There is no program `restic` on `PATH`, or it is older than 0.18.
        case engineMissing, engineTooOld
        /// There is no repository at the location, or there is one already.
        case noRepository, repositoryExists
        /// Another process has a lock that excludes this one.
        case locked
        /// The password is not one of the repository's; or none was given, or it could not be read.
        case wrongPassword, noPassword
        /// The repository cannot be reached: a network error, or permissions.
        case unreachable
        /// The repository cannot be written to: permissions, or a read-only filesystem.
        case notWritable
        /// There is no space left, in the repository or at a restore's target.
        case noSpace
        /// The repository's own files are not valid.
        case damaged
        /// No snapshot matches the request, or several do.
        case noSnapshot
        /// The snapshot has no record of how it was made.
        case noRecord
        /// Nothing in the snapshot matches the request.
        case noMatch
        /// A restore's target is not an empty directory.
        case targetNotEmpty
        /// The engine's answer is not one that this program understands.
        case unexpectedAnswer
        /// The work was stopped by a signal.
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
                .engineMissing, .engineTooOld, .noRepository, .locked, .wrongPassword, .noPassword,
                .unreachable, .interrupted,
            ]
            return !codes.contains(self)
        }
    }

    /// The kind of failure, to match on.
    package var code: Code
    /// What is wrong, in words.
    package var message: String
    /// How to proceed; nil when there is nothing useful to say.
    package var advice: String?
    /// The file or directory concerned; nil when there is none.
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

/// Converts an error to one that the command line tool reports.
///
/// - Parameter path: the file concerned; nil when the error names it, or when there is none.
package func backupError(_ error: any Error, path: FilePath? = nil) -> BackupError {
    switch error {
    case let error as BackupError: error
    case let error as Errno:
        BackupError(code(error) ?? .other, "\(error)", advice: advice(error), path: path)
    case let error as FileError:
        BackupError(
            error.errno.flatMap(code) ?? .other, error.message, advice: error.advice,
            path: error.path ?? path)
    case is CancellationError: BackupError(.interrupted, "was stopped", path: path)
    default: BackupError(.other, "\(error)", path: path)
    }
}

private func code(_ errno: Errno) -> BackupError.Code? {
    switch errno {
    case .noSpace, .diskQuotaExceeded: .noSpace
    case .permissionDenied, .notPermitted, .readOnlyFileSystem: .notWritable
    default: nil
    }
}

private func advice(_ errno: Errno) -> String? {
    switch errno {
    case .noSpace, .diskQuotaExceeded: "make room and run it again"
    case .permissionDenied, .notPermitted, .readOnlyFileSystem:
        "check owner, permissions and mount options"
    case .tooManyOpenFiles: "raise the limit: ulimit -n"
    default: nil
    }
}
