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
