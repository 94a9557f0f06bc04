import CLinux
import SystemPackage

/// What `statfs(2)` and `statvfs(3)` tell about the filesystem a file is on.
public struct FilesystemStatus: Sendable, Hashable {
    /// The filesystem's magic number (`f_type`, linux/magic.h).
    public let type: UInt32
    /// The size of a fragment in bytes: the unit of the block counts (`f_frsize`).
    public let fragmentSize: UInt64
    /// All blocks, in fragments.
    public let blocks: UInt64
    /// Free blocks, those reserved for root included.
    public let freeBlocks: UInt64
    /// Free blocks an ordinary user may take (`f_bavail`).
    public let availableBlocks: UInt64
    /// All inodes; 0 where the filesystem does not count them.
    public let files: UInt64
    /// Free inodes, those reserved for root included (`f_ffree`).
    public let freeFiles: UInt64
    /// Free inodes an ordinary user may take (`f_favail`).
    public let availableFiles: UInt64
    /// Whether the mount is read-only.
    public let isReadOnly: Bool

    package init(
        type: UInt32, fragmentSize: UInt64, blocks: UInt64, freeBlocks: UInt64,
        availableBlocks: UInt64, files: UInt64, freeFiles: UInt64, availableFiles: UInt64,
        isReadOnly: Bool
    ) {
        self.type = type
        self.fragmentSize = fragmentSize
        self.blocks = blocks
        self.freeBlocks = freeBlocks
        self.availableBlocks = availableBlocks
        self.files = files
        self.freeFiles = freeFiles
        self.availableFiles = availableFiles
        self.isReadOnly = isReadOnly
    }
}

/// Asks for the status of the filesystem that holds a file: `fstatfs(2)` and `fstatvfs(3)`.
///
/// - Throws: the errno of opening the file (`O_PATH`, so no permission on the file itself is needed)
///   or of either call.
public func filesystemStatus(
    of location: borrowing some FileLocation & ~Copyable
) throws(Errno) -> FilesystemStatus {
    let descriptor = try openFile(location, flags: O_PATH)
    let outcome: Result<FilesystemStatus, Errno>
    do throws(Errno) {
        outcome = .success(try filesystemStatus(ofOpen: descriptor))
    } catch {
        outcome = .failure(error)
    }
    try closeFile(descriptor)
    return try outcome.get()
}

/// Asks for the status of the filesystem that holds an open file.
package func filesystemStatus(
    ofOpen descriptor: FileDescriptor
) throws(Errno) -> FilesystemStatus {
    var kernel = statfs()
    _ = try perform(.fstatfs) { linux_fstatfs(descriptor.rawValue, &kernel) }
    var counts = statvfs()
    _ = try perform(.fstatvfs) { linux_fstatvfs(descriptor.rawValue, &counts) }
    return FilesystemStatus(
        type: UInt32(truncatingIfNeeded: kernel.f_type),
        fragmentSize: UInt64(counts.f_frsize), blocks: UInt64(counts.f_blocks),
        freeBlocks: UInt64(counts.f_bfree), availableBlocks: UInt64(counts.f_bavail),
        files: UInt64(counts.f_files), freeFiles: UInt64(counts.f_ffree),
        availableFiles: UInt64(counts.f_favail),
        isReadOnly: counts.f_flag & UInt(ST_RDONLY) != 0)
}
