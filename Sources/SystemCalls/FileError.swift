import CLinux
import SystemPackage

/// An error with one file: what is wrong, why, and what to do.
///
/// Match errors by ``code``; new codes may be added, so a `switch` needs a `default`.
public struct FileError: Error, Sendable, Hashable {
    /// The kind of error.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name in lower camel case, as JSON output shows it.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// Nothing exists at the path (`ENOENT`).
        public static let noSuchFile = Code("noSuchFile")
        /// A component of the path is not a directory (`ENOTDIR`).
        public static let notADirectory = Code("notADirectory")
        /// The permissions of the file or of an ancestor deny the operation (`EACCES`, `EPERM`).
        public static let permissionDenied = Code("permissionDenied")
        /// Only the owner of a sticky directory may store attributes on it (`EPERM`).
        public static let stickyDirectory = Code("stickyDirectory")
        /// The file is immutable or append-only (`EPERM`).
        public static let immutable = Code("immutable")
        /// Files of this kind cannot have `user.*` attributes (`EPERM`).
        public static let unsupportedFileKind = Code("unsupportedFileKind")
        /// The filesystem does not store `user.*` attributes (`EOPNOTSUPP`).
        public static let unsupportedFilesystem = Code("unsupportedFilesystem")
        /// The filesystem is mounted read-only (`EROFS`).
        public static let readOnlyFilesystem = Code("readOnlyFilesystem")
        /// No space for the attribute, on the volume or in the inode's attribute storage
        /// (`ENOSPC`).
        public static let noSpace = Code("noSpace")
        /// The owner's quota is exhausted (`EDQUOT`).
        public static let quotaExceeded = Code("quotaExceeded")
        /// The value, or the list of names, is too large (`E2BIG`, `ERANGE`).
        public static let tooLarge = Code("tooLarge")
        /// The attribute exists, and the call was to create it (`EEXIST`).
        public static let attributeExists = Code("attributeExists")
        /// The attribute does not exist, and the call was to replace it (`ENODATA`).
        public static let noSuchAttribute = Code("noSuchAttribute")
        /// An item exists at the path of a new one (`EEXIST`).
        public static let fileExists = Code("fileExists")
        /// The path has too many symbolic links, or one where none is allowed (`ELOOP`).
        public static let symbolicLinkLoop = Code("symbolicLinkLoop")
        /// A component of the path is longer than the filesystem's limit (`ENAMETOOLONG`).
        public static let nameTooLong = Code("nameTooLong")
        /// The device or filesystem failed to read or write (`EIO`).
        public static let inputOutput = Code("inputOutput")
        /// Too many files are open (`EMFILE`, `ENFILE`).
        public static let tooManyOpenFiles = Code("tooManyOpenFiles")
        /// The item is encrypted, and its key is not there (`ENOKEY`).
        public static let locked = Code("locked")
        /// The name leads to another file than when it was last checked.
        public static let changed = Code("changed")
        /// Another user can change where the path leads.
        public static let unsafePath = Code("unsafePath")
        /// The stored value is not valid in the attribute format.
        public static let malformedValue = Code("malformedValue")
        /// Any other errno.
        public static let other = Code("other")
    }

    /// The kind of error, to match on.
    public var code: Code
    /// What is wrong, without the path.
    public var message: String
    /// What to do; nil if there is nothing useful to say.
    public var advice: String?
    /// The file; nil if only a descriptor was known.
    public var path: FilePath?
    /// The attribute; nil if the error does not concern one.
    public var attribute: ExtendedAttributeName?
    /// The underlying errno; nil if no system call failed.
    public var errno: Errno?

    /// Creates an error from its parts.
    public init(
        code: Code, message: String, advice: String? = nil, path: FilePath? = nil,
        attribute: ExtendedAttributeName? = nil, errno: Errno? = nil
    ) {
        self.code = code
        self.message = message
        self.advice = advice
        self.path = path
        self.attribute = attribute
        self.errno = errno
    }
}

extension FileError: CustomStringConvertible {
    /// The message and the advice, without the path, whose bytes could control a terminal.
    public var description: String {
        guard let advice else { return message }
        return "\(message) (\(advice))"
    }
}

// The errors by errno, without what they are about.
extension FileError {
    private init(_ code: Code, _ message: String, _ advice: String? = nil) {
        self.init(code: code, message: message, advice: advice)
    }

    private init(ofAttribute errno: Errno) {
        self = Self.knownOfAttributes[errno] ?? FileError(errno, of: nil)
    }

    private func about(
        _ path: FilePath?, _ errno: Errno, _ attribute: ExtendedAttributeName? = nil
    ) -> FileError {
        FileError(
            code: code, message: message, advice: advice, path: path, attribute: attribute,
            errno: errno)
    }

    private static let known: [Errno: FileError] = [
        .noSuchFileOrDirectory: FileError(.noSuchFile, "no such file or directory"),
        .notDirectory: FileError(.notADirectory, "a part of the path is not a directory"),
        .permissionDenied: FileError(
            .permissionDenied, "permission denied",
            "run as the owner, or ask for access to the file and the directories above it"),
        .notPermitted: FileError(.permissionDenied, "operation not permitted"),
        .readOnlyFileSystem: FileError(
            .readOnlyFilesystem, "the filesystem is mounted read-only",
            "remount it writable: mount -o remount,rw"),
        .noKey: FileError(
            .locked, "is encrypted, and its key is not there",
            "unlock it, for example by logging in as its owner, or: fscrypt unlock"),
        .noSpace: FileError(
            .noSpace, "no space left on the volume", "free space on the volume"),
        .diskQuotaExceeded: FileError(
            .quotaExceeded, "the disk quota is used up", "free space or have the quota raised"),
        .fileExists: FileError(.fileExists, "an item exists at this path already"),
        .tooManySymbolicLinkLevels: FileError(
            .symbolicLinkLoop, "too many levels of symbolic links"),
        .fileNameTooLong: FileError(
            .nameTooLong, "a name in the path is longer than the filesystem allows"),
        .fileTooLarge: FileError(.tooLarge, "the file is too large for its purpose"),
        .ioError: FileError(
            .inputOutput, "input/output error", "check the device: dmesg, then fsck"),
        .tooManyOpenFiles: FileError(
            .tooManyOpenFiles, "too many open files", "raise the limit: ulimit -n"),
        .tooManyOpenFilesInSystem: FileError(
            .tooManyOpenFiles, "the system has too many open files"),
    ]

    private static let knownOfAttributes: [Errno: FileError] = [
        .notSupported: FileError(
            .unsupportedFilesystem, "the filesystem does not store user attributes",
            "keep the file on ext4, xfs, btrfs, or tmpfs of Linux 6.6 or newer"),
        .noFunction: FileError(
            .other, "/proc is not mounted", "mount /proc"),
        .noSpace: FileError(
            .noSpace, "no space left for the attribute",
            "free space on the volume, or remove other attributes of this file"),
        .argListTooLong: FileError(
            .tooLarge, "the value is larger than the filesystem allows"),
        .outOfRange: FileError(.tooLarge, "the value is larger than the kernel allows"),
        .fileExists: FileError(.attributeExists, "the attribute exists already"),
        .noData: FileError(.noSuchAttribute, "the attribute is not set"),
    ]

    /// Creates the error of an operation on one item from what it threw: a ``FileError``, or the
    /// errno of a call, which gets the item's path.
    package init(_ error: any Error, of path: FilePath?) {
        switch error {
        case let error as FileError: self = error
        case let errno as Errno: self.init(errno, of: path)
        default: self.init(code: .other, message: "\(error)", path: path)
        }
    }

    /// Creates the error of a call on an item for which there is no function below: its status, or
    /// creating, writing, renaming or removing it.
    public init(_ errno: Errno, of path: FilePath?) {
        self = (Self.known[errno] ?? FileError(.other, errno.description)).about(path, errno)
    }

    /// Returns the error for a file that could not be opened or read: `openat(2)`, `read(2)`.
    /// `EINVAL` means that it is not a regular file.
    public static func opening(_ errno: Errno, _ path: FilePath?) -> FileError {
        var error = FileError(errno, of: path)
        if errno == .invalidArgument { error.message = "is not a regular file" }
        return error
    }

    /// Returns the error for a directory whose entries could not be read: `openat(2)`,
    /// `getdents64(2)`.
    public static func readingDirectory(_ errno: Errno, _ path: FilePath?) -> FileError {
        var error = FileError(errno, of: path)
        switch errno {
        case .permissionDenied:
            error.message = "cannot look inside this directory: permission denied"
        case .notDirectory, .tooManySymbolicLinkLevels:
            error.code = .changed
            error.message = "is no longer a directory"
            error.advice = "run again"
        default:
            break
        }
        return error
    }

    /// Returns the error for a failed `getxattr(2)`.
    public static func readingAttribute(
        _ errno: Errno, _ attribute: ExtendedAttributeName, of path: FilePath?
    ) -> FileError {
        FileError(ofAttribute: errno).about(path, errno, attribute)
    }

    /// Returns the error for a failed `listxattr(2)`.
    public static func listingAttributes(_ errno: Errno, of path: FilePath?) -> FileError {
        var error = FileError(ofAttribute: errno)
        if error.code == .tooLarge {
            error.message = "has more names of attributes than the kernel lists (64 KiB)"
        }
        return error.about(path, errno)
    }
}

/// Makes calls on an item: the errno of one that fails becomes the item's error.
///
/// - Parameter error: makes the error from the errno and the path.
@inlinable
package func calls<Result: ~Copyable>(
    on path: @autoclosure () -> FilePath?,
    _ error: (Errno, FilePath?) -> FileError = FileError.init(_:of:),
    _ body: () throws(Errno) -> Result
) throws(FileError) -> Result {
    do throws(Errno) {
        return try body()
    } catch let errno {
        throw error(errno, path())
    }
}

/// Makes calls on an item; nil if it does not exist: `ENOENT`, `ENOTDIR`, and `ELOOP` where no link is
/// followed.
@inlinable
package func ifPresent<Result>(
    _ body: () throws(Errno) -> Result
) throws(Errno) -> Result? {
    do throws(Errno) {
        return try body()
    } catch .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels {
        return nil
    }
}

extension FileError {
    /// Returns the error for a failed `setxattr(2)` or `removexattr(2)`.
    ///
    /// `EPERM` and `EACCES` have several causes, which `status` distinguishes.
    ///
    /// - Parameters:
    ///   - status: the file's status; nil if it could not be read.
    ///   - user: the effective uid of this process.
    ///   - filesystem: the filesystem's magic number (`f_type`, linux/magic.h); nil if unknown.
    public static func storingAttribute(
        _ errno: Errno, _ attribute: ExtendedAttributeName?, on path: FilePath?,
        status: FileStatus?, user: UInt32, filesystem: UInt32? = nil
    ) -> FileError {
        let error: FileError
        switch errno {
        case .notPermitted: error = .notPermitted(status, user: user)
        case .permissionDenied: error = .permissionDenied(status, user: user)
        case .readOnlyFileSystem where filesystem.map { neverWritable.contains($0) } == true:
            error = FileError(
                .readOnlyFilesystem, "filesystems of this type cannot be written",
                "copy the item to another one")
        default: error = FileError(ofAttribute: errno)
        }
        return error.about(path, errno, attribute)
    }

    private static func notPermitted(_ status: FileStatus?, user: UInt32) -> FileError {
        guard let status else { return FileError(.notPermitted, of: nil) }
        if !status.kind.canStoreUserAttributes {
            return FileError(
                .unsupportedFileKind, "\(status.kind.phrase) cannot have user attributes",
                "mark the directory it is in")
        }
        if status.isImmutable {
            return FileError(.immutable, "the file is immutable", "first: chattr -i")
        }
        if status.isAppendOnly {
            return FileError(.immutable, "the file is append-only", "first: chattr -a")
        }
        let isSticky = status.permissions & UInt16(S_ISVTX) != 0
        if status.kind == .directory && isSticky && status.owner != user {
            return FileError(
                .stickyDirectory, "only its owner may store attributes on a sticky directory",
                "run as the owner")
        }
        return FileError(.notPermitted, of: nil)
    }

    private static func permissionDenied(_ status: FileStatus?, user: UInt32) -> FileError {
        let isWritable = (status?.permissions ?? 0) & UInt16(S_IWUSR) != 0
        if let status, status.owner == user, !isWritable {
            return FileError(
                .permissionDenied, "the file is read-only for its owner",
                "first: chmod u+w")
        }
        return FileError(.permissionDenied, of: nil)
    }
}

/// The filesystems that are only made as a whole: squashfs, erofs, ISO 9660, cramfs, romfs.
private let neverWritable: Set<UInt32> = [
    0x7371_7368, 0xE0F5_E1E2, 0x9660, 0x28CD_3D45, 0x7275,
]

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
