#if !canImport(Darwin)
import Foundation

// Properties: which volume it is.

extension URLResourceValues {
    /// The filesystem's label (`FS_IOC_GETFSLABEL`, else `/dev/disk/by-label`); without one the last
    /// component of the mount point, `/` for the root filesystem.
    ///
    /// nil when that is not UTF-8. Setting another value throws `CocoaError.featureUnsupported`.
    public var volumeName: String? {
        get { text(.volumeName) }
        set { assign(newValue.map { .text($0) }, to: .volumeName) }
    }

    /// The volume's name for people: the same as ``volumeName``.
    public var volumeLocalizedName: String? { text(.volumeLocalizedName) }

    /// The filesystem's type, such as `ext4`; nil where ``volumeTypeName`` is.
    public var volumeLocalizedFormatDescription: String? { text(.volumeLocalizedFormatDescription) }

    /// The filesystem's type in `/proc/self/mountinfo`, such as `ext4` or `fuse.sshfs`.
    ///
    /// nil where `/proc` is not mounted, and before Linux 5.8.
    public var volumeTypeName: String? { text(.volumeTypeName) }

    /// Always nil: types have no numbered subtypes on Linux.
    public var volumeSubtype: Int? { integer(.volumeSubtype) }

    /// What is mounted, in `/proc/self/mountinfo`: a device's path or words of the filesystem's own.
    ///
    /// nil where `/proc` is not mounted, before Linux 5.8, and when it is not UTF-8.
    public var volumeMountFromLocation: String? { text(.volumeMountFromLocation) }

    /// The filesystem's UUID as Linux writes it (`FS_IOC_GETFSUUID` of Linux 6.9, else
    /// `/dev/disk/by-uuid`); nil where it has none or neither tells.
    public var volumeUUIDString: String? { text(.volumeUUIDString) }

    /// When the filesystem was made: the birth time of its root directory.
    ///
    /// nil where the mount shows only a part of the filesystem, or no birth time is stored.
    public var volumeCreationDate: Date? { date(.volumeCreationDate) }

    /// Always nil: Linux mounts by tables, not by URL.
    public var volumeURLForRemounting: URL? { object(.volumeURLForRemounting) }

    /// Whether the volume is mounted at `/`; nil where ``volume`` is.
    public var volumeIsRootFileSystem: Bool? { boolean(.volumeIsRootFileSystem) }

    /// Whether the mount is read-only (`ST_RDONLY`).
    public var volumeIsReadOnly: Bool? { boolean(.volumeIsReadOnly) }

    /// Whether the files are on this machine, from the filesystem's type: false for network
    /// filesystems.
    ///
    /// nil for FUSE without a block device and for unknown types without one.
    public var volumeIsLocal: Bool? { boolean(.volumeIsLocal) }

    /// Whether dm-crypt lies beneath the whole volume (`/sys/dev/block`).
    ///
    /// nil for volumes without a block device. Encryption by the filesystem (fscrypt) or by the
    /// drive is not detected.
    public var volumeIsEncrypted: Bool? { boolean(.volumeIsEncrypted) }

    /// Whether an automounter (autofs) mounted the volume; nil where ``volume`` is.
    public var volumeIsAutomounted: Bool? { boolean(.volumeIsAutomounted) }

    /// False for views of the kernel (proc, sysfs and others), true for other volumes; nil where
    /// ``volume`` is.
    public var volumeIsBrowsable: Bool? { boolean(.volumeIsBrowsable) }

    /// Whether the medium can be taken out of its drive (`/sys/dev/block`, `removable`).
    ///
    /// nil for volumes without a block device.
    public var volumeIsRemovable: Bool? { boolean(.volumeIsRemovable) }

    /// Whether the drive can eject its medium (`/sys/dev/block`, `events`).
    ///
    /// nil for volumes without a block device.
    public var volumeIsEjectable: Bool? { boolean(.volumeIsEjectable) }

    /// Whether the drive is on a bus inside the machine (`/sys/dev/block`): false for USB, FireWire
    /// and Thunderbolt.
    ///
    /// nil for volumes without a drive of their own (device mapper, loop).
    public var volumeIsInternal: Bool? { boolean(.volumeIsInternal) }

    /// Whether the volume uses a journal now (ext4: `/sys/fs/ext4`; xfs: always).
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeIsJournaling: Bool? { boolean(.volumeIsJournaling) }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/volumeName``.
    public static let volumeNameKey = URLResourceKey(.volumeName)
    /// The key of ``URLResourceValues/volumeLocalizedName``.
    public static let volumeLocalizedNameKey = URLResourceKey(.volumeLocalizedName)
    /// The key of ``URLResourceValues/volumeLocalizedFormatDescription``.
    public static let volumeLocalizedFormatDescriptionKey =
        URLResourceKey(.volumeLocalizedFormatDescription)
    /// The key of ``URLResourceValues/volumeTypeName``.
    public static let volumeTypeNameKey = URLResourceKey(.volumeTypeName)
    /// The key of ``URLResourceValues/volumeSubtype``.
    public static let volumeSubtypeKey = URLResourceKey(.volumeSubtype)
    /// The key of ``URLResourceValues/volumeMountFromLocation``.
    public static let volumeMountFromLocationKey = URLResourceKey(.volumeMountFromLocation)
    /// The key of ``URLResourceValues/volumeUUIDString``.
    public static let volumeUUIDStringKey = URLResourceKey(.volumeUUIDString)
    /// The key of ``URLResourceValues/volumeCreationDate``.
    public static let volumeCreationDateKey = URLResourceKey(.volumeCreationDate)
    /// The key of ``URLResourceValues/volumeURLForRemounting``.
    public static let volumeURLForRemountingKey = URLResourceKey(.volumeURLForRemounting)
    /// The key of ``URLResourceValues/volumeIsRootFileSystem``.
    public static let volumeIsRootFileSystemKey = URLResourceKey(.volumeIsRootFileSystem)
    /// The key of ``URLResourceValues/volumeIsReadOnly``.
    public static let volumeIsReadOnlyKey = URLResourceKey(.volumeIsReadOnly)
    /// The key of ``URLResourceValues/volumeIsLocal``.
    public static let volumeIsLocalKey = URLResourceKey(.volumeIsLocal)
    /// The key of ``URLResourceValues/volumeIsEncrypted``.
    public static let volumeIsEncryptedKey = URLResourceKey(.volumeIsEncrypted)
    /// The key of ``URLResourceValues/volumeIsAutomounted``.
    public static let volumeIsAutomountedKey = URLResourceKey(.volumeIsAutomounted)
    /// The key of ``URLResourceValues/volumeIsBrowsable``.
    public static let volumeIsBrowsableKey = URLResourceKey(.volumeIsBrowsable)
    /// The key of ``URLResourceValues/volumeIsRemovable``.
    public static let volumeIsRemovableKey = URLResourceKey(.volumeIsRemovable)
    /// The key of ``URLResourceValues/volumeIsEjectable``.
    public static let volumeIsEjectableKey = URLResourceKey(.volumeIsEjectable)
    /// The key of ``URLResourceValues/volumeIsInternal``.
    public static let volumeIsInternalKey = URLResourceKey(.volumeIsInternal)
    /// The key of ``URLResourceValues/volumeIsJournaling``.
    public static let volumeIsJournalingKey = URLResourceKey(.volumeIsJournaling)
}
#endif
