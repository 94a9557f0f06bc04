import ResourceValues
import SystemCalls
import SystemPackage

/// The reason why a backup engine could not do what was requested.
///
/// The message contains no path of the user's, which may have bytes that control a terminal. Match
/// on the code.
package struct BackupError: Error, Sendable, Hashable {
    /// The kind of failure. More may be added.
    package struct Code: Sendable, Hashable {
        /// The exit code of the command line tool, the same as restic's.
        package let exitCode: Int32
        private let name: String

        private init(_ name: String, exitCode: Int32 = 1) {
            self.name = name
            self.exitCode = exitCode
        }

        /// There is no program `restic` on `PATH`.
        package static let engineMissing = Code("engineMissing")
        /// The program `restic` is older than 0.18, or does not name its version.
        package static let engineTooOld = Code("engineTooOld")
        /// There is no repository at the location.
        package static let noRepository = Code("noRepository", exitCode: 10)
        /// Another process has a lock that excludes this one.
        package static let locked = Code("locked", exitCode: 11)
        /// The password is not one of the repository's.
        package static let wrongPassword = Code("wrongPassword", exitCode: 12)
        /// No password was given, or it could not be read.
        package static let noPassword = Code("noPassword")
        /// There is a repository at the location already.
        package static let repositoryExists = Code("repositoryExists")
        /// The repository cannot be reached: a network error, or permissions.
        package static let unreachable = Code("unreachable")
        /// The repository cannot be written to: permissions, or a read-only filesystem.
        package static let notWritable = Code("notWritable")
        /// There is no space left, in the repository or at a restore's target.
        package static let noSpace = Code("noSpace")
        /// The repository's own files are not valid.
        package static let damaged = Code("damaged")
        /// No snapshot matches the request, or several do.
        package static let noSnapshot = Code("noSnapshot")
        /// The snapshot has no record of how it was made.
        package static let noRecord = Code("noRecord")
        /// Nothing in the snapshot matches the request.
        package static let noMatch = Code("noMatch")
        /// A restore's target is not an empty directory.
        package static let targetNotEmpty = Code("targetNotEmpty")
        /// The engine's answer is not one that this program understands.
        package static let unexpectedAnswer = Code("unexpectedAnswer")
        /// The work was stopped by a signal.
        package static let interrupted = Code("interrupted", exitCode: 130)
        /// A snapshot covers much less than the one before, and has not been accepted.
        package static let coverageShrank = Code("coverageShrank", exitCode: 3)
        /// Several sets of SOURCEs match, and one must be named.
        package static let ambiguousSources = Code("ambiguousSources", exitCode: 64)
        /// Any other failure; the message is the engine's own.
        package static let other = Code("other")

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
