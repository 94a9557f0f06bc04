import SystemCalls

/// The features of a type of filesystem on Linux.
package struct FilesystemFeatures: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let symbolicLinks = FilesystemFeatures(rawValue: 1 << 0)
    package static let hardLinks = FilesystemFeatures(rawValue: 1 << 1)
    /// The filesystem can have a journal.
    package static let journal = FilesystemFeatures(rawValue: 1 << 2)
    package static let holes = FilesystemFeatures(rawValue: 1 << 3)
    /// Ranges can be allocated without being written: `fallocate(2)`.
    package static let unwrittenRanges = FilesystemFeatures(rawValue: 1 << 4)
    package static let caseSensitivity = FilesystemFeatures(rawValue: 1 << 5)
    package static let casePreservation = FilesystemFeatures(rawValue: 1 << 6)
    package static let rootDirectoryDates = FilesystemFeatures(rawValue: 1 << 7)
    /// The label can be changed while mounted: `FS_IOC_SETFSLABEL`.
    package static let relabelling = FilesystemFeatures(rawValue: 1 << 8)
    /// `flock(2)`.
    package static let locking = FilesystemFeatures(rawValue: 1 << 9)
    package static let compression = FilesystemFeatures(rawValue: 1 << 10)
    /// `FICLONE`; on xfs only where the volume was made for it.
    package static let cloning = FilesystemFeatures(rawValue: 1 << 11)
    /// `RENAME_EXCHANGE`.
    package static let swapRenaming = FilesystemFeatures(rawValue: 1 << 12)
    /// `RENAME_NOREPLACE`.
    package static let exclusiveRenaming = FilesystemFeatures(rawValue: 1 << 13)
    /// Owner and permission bits for each file.
    package static let permissions = FilesystemFeatures(rawValue: 1 << 14)

    private static let common: FilesystemFeatures = [
        .symbolicLinks, .hardLinks, .holes, .unwrittenRanges, .caseSensitivity, .casePreservation,
        .rootDirectoryDates, .locking, .swapRenaming, .exclusiveRenaming, .permissions,
    ]

    /// Returns the features of a type, as named by `/proc/self/mountinfo`; nil for types not known
    /// well enough.
    package static func of(type: String) -> FilesystemFeatures? { byType[type] }

    private static let byType: [String: FilesystemFeatures] = [
        "ext3": common.subtracting(.unwrittenRanges).union([.journal, .relabelling]),
        "ext4": common.union([.journal, .relabelling]),
        "xfs": common.union([.journal, .relabelling, .cloning]),
        "btrfs": common.union([.relabelling, .cloning, .compression]),
        "tmpfs": common,
    ]

    /// Returns the maximum size of a file in bytes; nil for types where it is unknown.
    package static func largestFile(type: String, _ status: FilesystemStatus) -> Int64? {
        switch type {
        // Block numbers within a file have 32 bits, and the last one is not used.
        case "ext4":
            Int64(clamping: UInt64(UInt32.max).multipliedSaturating(by: status.fragmentSize))
        case "btrfs", "tmpfs", "xfs": .max
        case "vfat", "msdos": Int64(UInt32.max)
        default: nil
        }
    }
}
