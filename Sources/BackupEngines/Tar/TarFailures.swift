import ResourceValues
import SystemCalls
import SystemPackage

/// Converts an error to one that the command line tool reports.
///
/// - Parameter path: the file concerned; nil when the error names it, or when there is none.
package func backupError(_ error: any Error, path: FilePath? = nil) -> BackupError {
    switch error {
    case let error as BackupError: error
    case let error as ArchiveFailure:
        BackupError(code(error), error.message, advice: advice(error.errno), path: path)
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

private func code(_ failure: ArchiveFailure) -> BackupError.Code {
    guard let errno = failure.errno else { return .damaged }
    return code(errno) ?? .other
}

private func code(_ errno: Errno) -> BackupError.Code? {
    switch errno {
    case .noSpace, .diskQuotaExceeded: .noSpace
    case .permissionDenied, .notPermitted, .readOnlyFileSystem: .notWritable
    default: nil
    }
}

private func advice(_ errno: Errno?) -> String? {
    switch errno {
    case .noSpace, .diskQuotaExceeded: "make room and run it again"
    case .permissionDenied, .notPermitted, .readOnlyFileSystem:
        "check owner, permissions and mount options"
    case .tooManyOpenFiles: "raise the limit: ulimit -n"
    default: nil
    }
}
