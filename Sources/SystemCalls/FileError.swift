import SystemPackage

/// What went wrong with one file, why, and how to go on.
///
/// Match errors by ``code``; new codes may be added, so a `switch` needs a `default`.
public struct FileError: Error, Sendable, Hashable {
    /// The kind of trouble.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name in lower camel case, as JSON output shows it.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// Nothing stands at the path (`ENOENT`).
        public static let noSuchFile = Code("noSuchFile")
        /// A component of the path is not a directory (`ENOTDIR`).
        public static let notADirectory = Code("notADirectory")
        /// The permissions of the file or of a directory above it refuse this (`EACCES`, `EPERM`).
        public static let permissionDenied = Code("permissionDenied")
        /// Only the owner of a sticky directory may store attributes on it (`EPERM`).
        public static let stickyDirectory = Code("stickyDirectory")
        /// The file is immutable or append-only (`EPERM`).
        public static let immutable = Code("immutable")
        /// Files of this kind cannot hold `user.*` attributes (`EPERM`).
        public static let unsupportedFileKind = Code("unsupportedFileKind")
        /// The filesystem does not store `user.*` attributes (`EOPNOTSUPP`).
        public static let unsupportedFilesystem = Code("unsupportedFilesystem")
        /// The filesystem is mounted read-only (`EROFS`).
        public static let readOnlyFilesystem = Code("readOnlyFilesystem")
        /// No room for the attribute, on the volume or beside the inode (`ENOSPC`).
        public static let noSpace = Code("noSpace")
        /// The owner's quota is used up (`EDQUOT`).
        public static let quotaExceeded = Code("quotaExceeded")
        /// The value, or the list of names, is too large (`E2BIG`, `ERANGE`).
        public static let tooLarge = Code("tooLarge")
        /// The attribute exists already, and the call asked to create it (`EEXIST`).
        public static let attributeExists = Code("attributeExists")
        /// The attribute does not exist, and the call asked to replace it (`ENODATA`).
        public static let noSuchAttribute = Code("noSuchAttribute")
        /// Something stands where a new item should (`EEXIST`).
        public static let fileExists = Code("fileExists")
        /// Too many symbolic links on the way, or one where none may be (`ELOOP`).
        public static let symbolicLinkLoop = Code("symbolicLinkLoop")
        /// A component of the path is longer than the filesystem's limit (`ENAMETOOLONG`).
        public static let nameTooLong = Code("nameTooLong")
        /// The device or filesystem failed to read or write (`EIO`).
        public static let inputOutput = Code("inputOutput")
        /// Too many files are open (`EMFILE`, `ENFILE`).
        public static let tooManyOpenFiles = Code("tooManyOpenFiles")
        /// The name now leads to another file than it did a moment ago.
        public static let changed = Code("changed")
        /// The way to the item is one on which another user decides where it leads.
        public static let unsafePath = Code("unsafePath")
        /// The stored value is none that the attribute format knows.
        public static let malformedValue = Code("malformedValue")
        /// Any other errno.
        public static let other = Code("other")
    }

    /// The kind of trouble, to match on.
    public var code: Code
    /// What is wrong, in words, without the path.
    public var message: String
    /// How to go on; nil where there is nothing useful to say.
    public var advice: String?
    /// The file; nil where only a descriptor was known.
    public var path: FilePath?
    /// The attribute; nil where the trouble is not with one.
    public var attribute: ExtendedAttributeName?
    /// The errno beneath; nil where no system call failed.
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
    /// The message and the advice, without the path: it may hold bytes that a terminal obeys.
    public var description: String {
        guard let advice else { return message }
        return "\(message) (\(advice))"
    }
}
