#if !canImport(Darwin)
import Foundation

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
    public static let fileSizeKey = URLResourceKey(.fileSize)
    /// The key of ``URLResourceValues/fileAllocatedSize``.
    public static let fileAllocatedSizeKey = URLResourceKey(.fileAllocatedSize)
    /// The key of ``URLResourceValues/totalFileSize``.
    public static let totalFileSizeKey = URLResourceKey(.totalFileSize)
    /// The key of ``URLResourceValues/totalFileAllocatedSize``.
    public static let totalFileAllocatedSizeKey = URLResourceKey(.totalFileAllocatedSize)
    /// The key of ``URLResourceValues/isSparse``.
    public static let isSparseKey = URLResourceKey(.isSparse)
    /// The key of ``URLResourceValues/mayShareFileContent``.
    public static let mayShareFileContentKey = URLResourceKey(.mayShareFileContent)
    /// The key of ``URLResourceValues/preferredIOBlockSize``.
    public static let preferredIOBlockSizeKey = URLResourceKey(.preferredIOBlockSize)
    /// The key of ``URLResourceValues/directoryEntryCount``.
    public static let directoryEntryCountKey = URLResourceKey(.directoryEntryCount)
}
#endif
