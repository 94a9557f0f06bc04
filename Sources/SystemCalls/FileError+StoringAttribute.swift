import CLinux
import SystemPackage

extension FileError {
    /// The error for a failed `setxattr(2)` or `removexattr(2)`.
    ///
    /// `EPERM` and `EACCES` have several causes; `status` tells them apart.
    ///
    /// - Parameters:
    ///   - status: the file's status; nil where it could not be read.
    ///   - user: the effective user number of this process.
    public static func storingAttribute(
        _ errno: Errno, _ attribute: ExtendedAttributeName?, on path: FilePath?,
        status: FileStatus?, user: UInt32
    ) -> FileError {
        let cause: ErrorCause
        switch errno {
        case .notPermitted: cause = .notPermitted(status, user: user)
        case .permissionDenied: cause = .permissionDenied(status, user: user)
        default: cause = ErrorCause(errno)
        }
        return FileError(cause, errno: errno, path: path, attribute: attribute)
    }
}

extension ErrorCause {
    fileprivate static func notPermitted(_ status: FileStatus?, user: UInt32) -> ErrorCause {
        guard let status else { return ErrorCause(Errno.notPermitted) }
        if !status.kind.canStoreUserAttributes {
            return ErrorCause(
                .unsupportedFileKind, "\(status.kind.phrase) cannot hold user attributes",
                "mark the directory it is in")
        }
        if status.isImmutable {
            return ErrorCause(.immutable, "the file is immutable", "first: chattr -i")
        }
        if status.isAppendOnly {
            return ErrorCause(.immutable, "the file is append-only", "first: chattr -a")
        }
        let isSticky = status.permissions & UInt16(S_ISVTX) != 0
        if status.kind == .directory && isSticky && status.owner != user {
            return ErrorCause(
                .stickyDirectory, "only its owner may store attributes on a sticky directory",
                "run as the owner")
        }
        return ErrorCause(Errno.notPermitted)
    }

    fileprivate static func permissionDenied(_ status: FileStatus?, user: UInt32) -> ErrorCause {
        let isWritable = (status?.permissions ?? 0) & UInt16(S_IWUSR) != 0
        if let status, status.owner == user, !isWritable {
            return ErrorCause(
                .permissionDenied, "you have no write permission on this read-only file of yours",
                "first: chmod u+w")
        }
        return ErrorCause(Errno.permissionDenied)
    }
}

extension FileKind {
    /// The kind as a plural noun, for messages.
    fileprivate var phrase: String {
        switch self {
        case .regularFile: "regular files"
        case .directory: "directories"
        case .symbolicLink: "symbolic links"
        case .fifo: "FIFOs"
        case .socket: "sockets"
        case .characterDevice, .blockDevice: "device nodes"
        case .unknown: "files of this kind"
        }
    }
}
