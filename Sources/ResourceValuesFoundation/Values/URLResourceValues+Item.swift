#if !canImport(Darwin)
import Foundation
import ResourceValues

// Properties: values that are stored on the item.

extension URLResourceValues {
    /// Whether backups exclude the item: the extended attribute `user.resval.isExcludedFromBackup`.
    ///
    /// `false` also when unset, as on Apple's systems; nil for a symbolic link, which stores no marks.
    /// `FilePath.value(for:)` and `resval get` tell unset from `false`: an unset value leaves it to the
    /// directories above and to other programs' marks whether the item is excluded, and a stored
    /// `false` includes it. Storing a whole ``URLResourceValues`` that was read keeps that difference;
    /// a `false` that is assigned by itself is stored.
    public var isExcludedFromBackup: Bool? {
        get { boolean(.isExcludedFromBackup) }
        set { assign(newValue.map { .boolean($0) }, to: .isExcludedFromBackup) }
    }

    /// Whether the item may be deleted when space is short: the extended attribute
    /// `user.resval.isPurgeable`.
    ///
    /// nil when unset. Can be set here, unlike on Apple's systems.
    public var isPurgeable: Bool? {
        get { boolean(.isPurgeable) }
        set { assign(newValue.map { .boolean($0) }, to: .isPurgeable) }
    }

    /// The protection class: the extended attribute `user.resval.fileProtection`.
    ///
    /// Where it is not set, the class of the nearest directory above that has one, which is not stored
    /// when the values are; nil when there is none. Can be set here, unlike on Apple's systems. It is a
    /// declaration that tools honour: nothing prevents a program from reading the file.
    public var fileProtection: URLFileProtection? {
        get { object(.fileProtection) }
        set { assign(newValue.map { .object($0) }, to: .fileProtection) }
    }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/isExcludedFromBackup``.
    public static let isExcludedFromBackupKey = Self(.isExcludedFromBackup)
    /// The key of ``URLResourceValues/isPurgeable``.
    public static let isPurgeableKey = Self(.isPurgeable)
    /// The key of ``URLResourceValues/fileProtection``.
    public static let fileProtectionKey = Self(.fileProtection)
}

// Properties: names and places.

extension URLResourceValues {
    /// The last component of the URL's path; `/` for the root directory.
    ///
    /// nil when the name is not UTF-8. Setting it renames the item within its directory (`renameat2(2)`
    /// with `RENAME_NOREPLACE`); the URL keeps the old name.
    public var name: String? {
        get { text(.name) }
        set { assign(newValue.map { .text($0) }, to: .name) }
    }

    /// The name for people: the same as ``name``, since Linux translates no file names.
    ///
    /// nil when the name is not UTF-8.
    public var localizedName: String? { text(.localizedName) }

    /// The URL's path, absolute, without percent escapes.
    ///
    /// nil when the path is not UTF-8.
    public var path: String? { text(.path) }

    /// The path without symbolic links, `.` and `..`; a symbolic link at its end stays itself.
    ///
    /// nil when that path is not UTF-8.
    public var canonicalPath: String? { text(.canonicalPath) }

    /// The directory that contains the item, by its path.
    ///
    /// nil for the root directory, and when that path is not UTF-8.
    public var parentDirectory: URL? { object(.parentDirectoryURL) }

    /// Where the volume is mounted: the mount point of the mount that `statx(2)` names, in
    /// `/proc/self/mountinfo`.
    ///
    /// nil where `/proc` is not mounted, before Linux 5.8, and when that path is not UTF-8.
    public var volume: URL? { object(.volumeURL) }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/name``.
    public static let nameKey = Self(.name)
    /// The key of ``URLResourceValues/localizedName``.
    public static let localizedNameKey = Self(.localizedName)
    /// The key of ``URLResourceValues/path``.
    public static let pathKey = Self(.path)
    /// The key of ``URLResourceValues/canonicalPath``.
    public static let canonicalPathKey = Self(.canonicalPath)
    /// The key of ``URLResourceValues/parentDirectory``.
    public static let parentDirectoryURLKey = Self(.parentDirectoryURL)
    /// The key of ``URLResourceValues/volume``.
    public static let volumeURLKey = Self(.volumeURL)
}

// Properties: what the item is.

extension URLResourceValues {
    /// Whether the item is a regular file (`st_mode`).
    public var isRegularFile: Bool? { boolean(.isRegularFile) }

    /// Whether the item is a directory (`st_mode`).
    public var isDirectory: Bool? { boolean(.isDirectory) }

    /// Whether the item itself is a symbolic link (`st_mode`); links are never followed.
    public var isSymbolicLink: Bool? { boolean(.isSymbolicLink) }

    /// Whether the item is the root directory of a mount (`STATX_ATTR_MOUNT_ROOT`).
    ///
    /// nil before Linux 5.8.
    public var isVolume: Bool? { boolean(.isVolume) }

    /// Whether the item is a directory whose extension Apple's systems know as a package's, such as
    /// `app` or `rtfd`.
    ///
    /// Nothing on Linux shows such a directory as a file. Setting another value throws
    /// `CocoaError.featureUnsupported`.
    public var isPackage: Bool? {
        get { boolean(.isPackage) }
        set { assign(newValue.map { .boolean($0) }, to: .isPackage) }
    }

    /// Always false: Linux has no application packages.
    public var isApplication: Bool? { boolean(.isApplication) }

    /// Whether the item is a symbolic link, the only kind of alias that Linux has.
    public var isAliasFile: Bool? { boolean(.isAliasFile) }

    /// Whether looking inside would mount something there (`STATX_ATTR_AUTOMOUNT`).
    ///
    /// nil where the filesystem does not report it.
    public var isMountTrigger: Bool? { boolean(.isMountTrigger) }

    /// The kind of the item (`st_mode`).
    public var fileResourceType: URLFileResourceType? { object(.fileResourceType) }

    /// Always nil: Linux has no notion of it.
    public var applicationIsScriptable: Bool? { nil }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/isRegularFile``.
    public static let isRegularFileKey = Self(.isRegularFile)
    /// The key of ``URLResourceValues/isDirectory``.
    public static let isDirectoryKey = Self(.isDirectory)
    /// The key of ``URLResourceValues/isSymbolicLink``.
    public static let isSymbolicLinkKey = Self(.isSymbolicLink)
    /// The key of ``URLResourceValues/isVolume``.
    public static let isVolumeKey = Self(.isVolume)
    /// The key of ``URLResourceValues/isPackage``.
    public static let isPackageKey = Self(.isPackage)
    /// The key of ``URLResourceValues/isApplication``.
    public static let isApplicationKey = Self(.isApplication)
    /// The key of ``URLResourceValues/isAliasFile``.
    public static let isAliasFileKey = Self(.isAliasFile)
    /// The key of ``URLResourceValues/isMountTrigger``.
    public static let isMountTriggerKey = Self(.isMountTrigger)
    /// The key of ``URLResourceValues/fileResourceType``.
    public static let fileResourceTypeKey = Self(.fileResourceType)
    /// The key of ``URLResourceValues/applicationIsScriptable``.
    public static let applicationIsScriptableKey = Self(.applicationIsScriptable)
}

// Properties: who may do what, and what shows.

extension URLResourceValues {
    /// Whether this process may read the item (`faccessat2(2)` with the effective user).
    ///
    /// A symbolic link is checked itself, and is always readable.
    public var isReadable: Bool? { boolean(.isReadable) }

    /// Whether this process may write to the item (`faccessat2(2)` with the effective user).
    ///
    /// False on a read-only mount and for immutable files.
    public var isWritable: Bool? { boolean(.isWritable) }

    /// Whether this process may execute the file or search the directory (`faccessat2(2)` with the
    /// effective user).
    public var isExecutable: Bool? { boolean(.isExecutable) }

    /// Whether the name begins with a dot.
    ///
    /// It can only be changed by renaming: setting another value throws
    /// `CocoaError.featureUnsupported`.
    public var isHidden: Bool? {
        get { boolean(.isHidden) }
        set { assign(newValue.map { .boolean($0) }, to: .isHidden) }
    }

    /// Always nil: Linux hides no extensions. Setting it throws `CocoaError.featureUnsupported`.
    public var hasHiddenExtension: Bool? {
        get { boolean(.hasHiddenExtension) }
        set { assign(newValue.map { .boolean($0) }, to: .hasHiddenExtension) }
    }

    /// Whether the item is immutable: `chattr +i`, `STATX_ATTR_IMMUTABLE`.
    ///
    /// nil where the filesystem has no such flag. Linux has only one flag of this kind, which also
    /// determines ``isUserImmutable``. Setting it needs `CAP_LINUX_IMMUTABLE`.
    public var isSystemImmutable: Bool? {
        get { boolean(.isSystemImmutable) }
        set { assign(newValue.map { .boolean($0) }, to: .isSystemImmutable) }
    }

    /// Whether the item is immutable: the same flag as ``isSystemImmutable``.
    ///
    /// nil where the filesystem has no such flag. Setting it needs `CAP_LINUX_IMMUTABLE`.
    public var isUserImmutable: Bool? {
        get { boolean(.isUserImmutable) }
        set { assign(newValue.map { .boolean($0) }, to: .isUserImmutable) }
    }

    /// Always nil: read permissions with `FileManager.attributesOfItem(atPath:)`.
    public var fileSecurity: NSFileSecurity? { nil }

    /// Whether the item has any extended attribute this process may see (`listxattr(2)`).
    public var mayHaveExtendedAttributes: Bool? { boolean(.mayHaveExtendedAttributes) }

    /// Always nil: Linux has no quarantine. Setting it throws `CocoaError.featureUnsupported`.
    public var quarantineProperties: [String: Any]? {
        get { object(.quarantineProperties) }
        set { assign(newValue.map { .object($0) }, to: .quarantineProperties) }
    }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/isReadable``.
    public static let isReadableKey = Self(.isReadable)
    /// The key of ``URLResourceValues/isWritable``.
    public static let isWritableKey = Self(.isWritable)
    /// The key of ``URLResourceValues/isExecutable``.
    public static let isExecutableKey = Self(.isExecutable)
    /// The key of ``URLResourceValues/isHidden``.
    public static let isHiddenKey = Self(.isHidden)
    /// The key of ``URLResourceValues/hasHiddenExtension``.
    public static let hasHiddenExtensionKey = Self(.hasHiddenExtension)
    /// The key of ``URLResourceValues/isSystemImmutable``.
    public static let isSystemImmutableKey = Self(.isSystemImmutable)
    /// The key of ``URLResourceValues/isUserImmutable``.
    public static let isUserImmutableKey = Self(.isUserImmutable)
    /// The key of ``URLResourceValues/fileSecurity``.
    public static let fileSecurityKey = Self(.fileSecurity)
    /// The key of ``URLResourceValues/mayHaveExtendedAttributes``.
    public static let mayHaveExtendedAttributesKey = Self(.mayHaveExtendedAttributes)
    /// The key of ``URLResourceValues/quarantineProperties``.
    public static let quarantinePropertiesKey = Self(.quarantineProperties)
}

// Properties: points in time.

extension URLResourceValues {
    /// When the item was made (`stx_btime`).
    ///
    /// nil where the filesystem does not store it. Linux cannot change it: setting another value
    /// throws `CocoaError.featureUnsupported`.
    public var creationDate: Date? {
        get { date(.creationDate) }
        set { assign(newValue.map { .date($0) }, to: .creationDate) }
    }

    /// When the content was last read (`stx_atime`), as far as the mount keeps it.
    public var contentAccessDate: Date? {
        get { date(.contentAccessDate) }
        set { assign(newValue.map { .date($0) }, to: .contentAccessDate) }
    }

    /// When the content last changed (`stx_mtime`).
    public var contentModificationDate: Date? {
        get { date(.contentModificationDate) }
        set { assign(newValue.map { .date($0) }, to: .contentModificationDate) }
    }

    /// When the inode last changed (`stx_ctime`).
    public var attributeModificationDate: Date? { date(.attributeModificationDate) }

    /// Always nil: Linux filesystems do not keep it.
    public var addedToDirectoryDate: Date? { nil }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/creationDate``.
    public static let creationDateKey = Self(.creationDate)
    /// The key of ``URLResourceValues/contentAccessDate``.
    public static let contentAccessDateKey = Self(.contentAccessDate)
    /// The key of ``URLResourceValues/contentModificationDate``.
    public static let contentModificationDateKey = Self(.contentModificationDate)
    /// The key of ``URLResourceValues/attributeModificationDate``.
    public static let attributeModificationDateKey = Self(.attributeModificationDate)
    /// The key of ``URLResourceValues/addedToDirectoryDate``.
    public static let addedToDirectoryDateKey = Self(.addedToDirectoryDate)
}

// Properties: sizes in bytes.

extension URLResourceValues {
    /// The size of a regular file in bytes (`stx_size`); nil for other kinds.
    public var fileSize: Int? { integer(.fileSize) }

    /// The space a regular file takes in bytes (`stx_blocks` × 512); nil for other kinds.
    public var fileAllocatedSize: Int? { integer(.fileAllocatedSize) }

    /// The size of a regular file in bytes with everything that belongs to it: the same as
    /// ``fileSize``, since Linux has no resource forks. nil for other kinds.
    public var totalFileSize: Int? { integer(.totalFileSize) }

    /// The space a regular file takes in bytes, with external attribute storage where the kernel
    /// counts it (ext4, xfs). nil for other kinds.
    public var totalFileAllocatedSize: Int? { integer(.totalFileAllocatedSize) }

    /// Whether a regular file has a hole: a range no extent covers (`FS_IOC_FIEMAP`, else `lseek(2)`
    /// with `SEEK_HOLE`).
    ///
    /// nil for other kinds, and without permission to read the file.
    public var isSparse: Bool? { boolean(.isSparse) }

    /// Whether a regular file shares extents with another (`FIEMAP_EXTENT_SHARED`).
    ///
    /// nil for other kinds, where the filesystem does not report extents, and without permission to
    /// read the file.
    public var mayShareFileContent: Bool? { boolean(.mayShareFileContent) }

    /// The size in bytes that reads and writes go best with (`stx_blksize`).
    public var preferredIOBlockSize: Int? { integer(.preferredIOBlockSize) }

    /// How many entries a directory has, without `.` and `..` (`getdents64(2)`).
    ///
    /// nil for other kinds, and without permission to read the directory.
    public var directoryEntryCount: Int? { integer(.directoryEntryCount) }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/fileSize``.
    public static let fileSizeKey = Self(.fileSize)
    /// The key of ``URLResourceValues/fileAllocatedSize``.
    public static let fileAllocatedSizeKey = Self(.fileAllocatedSize)
    /// The key of ``URLResourceValues/totalFileSize``.
    public static let totalFileSizeKey = Self(.totalFileSize)
    /// The key of ``URLResourceValues/totalFileAllocatedSize``.
    public static let totalFileAllocatedSizeKey = Self(.totalFileAllocatedSize)
    /// The key of ``URLResourceValues/isSparse``.
    public static let isSparseKey = Self(.isSparse)
    /// The key of ``URLResourceValues/mayShareFileContent``.
    public static let mayShareFileContentKey = Self(.mayShareFileContent)
    /// The key of ``URLResourceValues/preferredIOBlockSize``.
    public static let preferredIOBlockSizeKey = Self(.preferredIOBlockSize)
    /// The key of ``URLResourceValues/directoryEntryCount``.
    public static let directoryEntryCountKey = Self(.directoryEntryCount)
}

// Properties: identifiers.

extension URLResourceValues {
    /// The number of names the item has (`stx_nlink`).
    public var linkCount: Int? { integer(.linkCount) }

    /// The inode number (`stx_ino`).
    public var fileIdentifier: UInt64? { unsigned(.fileIdentifier) }

    /// Device and inode number: equal by `isEqual(_:)` for two names of one item while its volume is
    /// mounted.
    public var fileResourceIdentifier: (any NSCopying & NSSecureCoding & NSObjectProtocol)? {
        object(.fileResourceIdentifier)
    }

    /// The filesystem's device number: equal by `isEqual(_:)` for all items of one volume while it is
    /// mounted, btrfs subvolumes included.
    public var volumeIdentifier: (any NSCopying & NSSecureCoding & NSObjectProtocol)? {
        object(.volumeIdentifier)
    }

    /// Always nil: not every kernel gives consecutive changes different times.
    public var generationIdentifier: (any NSCopying & NSSecureCoding & NSObjectProtocol)? { nil }

    /// Always nil: Linux assigns no identifier that follows a document.
    public var documentIdentifier: Int? { nil }

    /// Always nil: Linux assigns no identifier to content.
    public var fileContentIdentifier: Int64? { nil }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/linkCount``.
    public static let linkCountKey = Self(.linkCount)
    /// The key of ``URLResourceValues/fileIdentifier``.
    public static let fileIdentifierKey = Self(.fileIdentifier)
    /// The key of ``URLResourceValues/fileResourceIdentifier``.
    public static let fileResourceIdentifierKey = Self(.fileResourceIdentifier)
    /// The key of ``URLResourceValues/volumeIdentifier``.
    public static let volumeIdentifierKey = Self(.volumeIdentifier)
    /// The key of ``URLResourceValues/generationIdentifier``.
    public static let generationIdentifierKey = Self(.generationIdentifier)
    /// The key of ``URLResourceValues/documentIdentifier``.
    public static let documentIdentifierKey = Self(.documentIdentifier)
    /// The key of ``URLResourceValues/fileContentIdentifier``.
    public static let fileContentIdentifierKey = Self(.fileContentIdentifier)
}

// Properties: what desktops show.

extension URLResourceValues {
    /// Always nil: Linux has no uniform type identifiers.
    public var typeIdentifier: String? { nil }

    /// Always nil: Linux has no uniform type identifiers.
    public var localizedTypeDescription: String? { nil }

    /// Always nil: Linux has no labels. Setting it throws `CocoaError.featureUnsupported`.
    public var labelNumber: Int? {
        get { integer(.labelNumber) }
        set { assign(newValue.map { .integer($0) }, to: .labelNumber) }
    }

    /// Always nil: Linux has no labels.
    public var localizedLabel: String? { nil }

    /// Always nil: Linux has no tags. Setting it throws `CocoaError.featureUnsupported`.
    public var tagNames: [String]? {
        get { object(.tagNames) }
        set { assign(newValue.map { .object($0) }, to: .tagNames) }
    }

    /// Always nil: the kernel knows no icons.
    public var effectiveIcon: AnyObject? { nil }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/typeIdentifier``.
    public static let typeIdentifierKey = Self(.typeIdentifier)
    /// The key of ``URLResourceValues/localizedTypeDescription``.
    public static let localizedTypeDescriptionKey = Self(.localizedTypeDescription)
    /// The key of ``URLResourceValues/labelNumber``.
    public static let labelNumberKey = Self(.labelNumber)
    /// The key of ``URLResourceValues/localizedLabel``.
    public static let localizedLabelKey = Self(.localizedLabel)
    /// The key of ``URLResourceValues/tagNames``.
    public static let tagNamesKey = Self(.tagNames)
    /// The key of ``URLResourceValues/effectiveIcon``.
    public static let effectiveIconKey = Self(.effectiveIcon)
}

/// A protection class, which says when a file's content may be readable.
///
/// Nothing on Linux enforces a class yet. It is a declaration that tools honour: a backup never
/// writes an item with a class other than ``none`` in plaintext.
public struct URLFileProtection: RawRepresentable, Hashable, Sendable {
    /// The raw name, such as `NSURLFileProtectionComplete`.
    public let rawValue: String

    /// Creates a class from its raw name.
    ///
    /// A name that no constant has cannot be stored: setting it throws
    /// `CocoaError.featureUnsupported`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Always readable.
    public static let none = URLFileProtection(.none)
    /// Readable only while the device is unlocked.
    public static let complete = URLFileProtection(.complete)
    /// Opened only while unlocked; open files stay usable after locking.
    public static let completeUnlessOpen = URLFileProtection(.completeUnlessOpen)
    /// Readable from the first unlock after boot.
    public static let completeUntilFirstUserAuthentication = URLFileProtection(
        .completeUntilFirstUserAuthentication)
    /// Readable while unlocked, and for a grace period after the user leaves.
    public static let completeWhenUserInactive = URLFileProtection(.completeWhenUserInactive)
}

private let prefix = "NSURLFileProtection"

extension URLFileProtection {
    /// Creates a class with Foundation's raw name.
    init(_ protection: FileProtection) {
        let name = protection.rawValue
        self.init(rawValue: prefix + name.prefix(1).uppercased() + name.dropFirst())
    }

    /// The class as it is stored; nil when no constant has the raw name.
    var stored: FileProtection? {
        FileProtection.allCases.first { URLFileProtection($0) == self }
    }
}

/// Access rules of a file in the form of Apple's systems; no value of this type exists here.
public final class NSFileSecurity: NSObject {
    private override init() {}
}
#endif
