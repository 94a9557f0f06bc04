import CLinux
import SystemPackage

/// What the extents of a regular file reveal.
package struct FileExtents: Sendable, Hashable {
    /// Whether part of the file is covered by no extent.
    package var hasHole: Bool
    /// Whether an extent is shared with another file; nil where the filesystem does not report it.
    package var isShared: Bool?
    /// The bytes in shared extents, as far as known.
    package var sharedBytes: Int64 = 0
    /// The bytes of content in compressed or encrypted extents that are not shared: the space these
    /// take on disk is not known.
    package var encodedBytes: Int64 = 0
}

/// Returns what a file's extents reveal: `FS_IOC_FIEMAP`, else `lseek(2)` with `SEEK_HOLE`.
///
/// - Parameters:
///   - descriptor: the file, open for reading.
///   - size: the file's size in bytes.
/// - Returns: nil where the filesystem supports neither.
/// - Throws: the errno of either call.
package func fileExtents(
    ofOpen descriptor: FileDescriptor, size: Int64
) throws(Errno) -> FileExtents? {
    do throws(Errno) {
        return try mappedExtents(descriptor, size: size)
    } catch .notSupported, .inappropriateIOCTLForDevice {
        do throws(Errno) {
            guard size > 0 else { return FileExtents(hasHole: false, isShared: nil) }
            let hole = try seekFile(descriptor, toNext: .hole, from: 0)
            return hole.map { FileExtents(hasHole: $0 < size, isShared: nil) }
        } catch .invalidArgument {
            return nil
        }
    }
}

/// Returns what the extents of a regular file reveal. Opens the file, unless the location is a
/// descriptor.
///
/// - Returns: nil where the filesystem does not report extents.
/// - Throws: also the errno of opening the file for reading.
package func fileExtents(
    of location: borrowing some FileLocation & ~Copyable, size: Int64
) throws(Errno) -> FileExtents? {
    // Opening a file again breaks its lease, even that of the process that opens it.
    let opened = try location.withCallTarget { target throws(Errno) in
        target.isDescriptor ? FileDescriptor(rawValue: target.directory) : nil
    }
    if let opened { return try fileExtents(ofOpen: opened, size: size) }
    let descriptor = try openPreservingAccessTime(
        location, flags: [.readOnly, .nonBlocking, .noTerminal])
    let outcome: Result<FileExtents?, Errno>
    do throws(Errno) {
        outcome = .success(try fileExtents(ofOpen: descriptor, size: size))
    } catch {
        outcome = .failure(error)
    }
    try closeFile(descriptor)
    return try outcome.get()
}

private func mappedExtents(
    _ descriptor: FileDescriptor, size: Int64
) throws(Errno) -> FileExtents {
    var found = FileExtents(hasHole: false, isShared: false)
    var covered: UInt64 = 0
    let end = UInt64(clamping: size)
    var batch = [fiemap_extent](repeating: fiemap_extent(), count: Int(LINUX_EXTENT_CAPACITY))
    while true {
        let count = try perform(.ioctl) {
            linux_get_extents(descriptor.rawValue, covered, &batch)
        }
        for extent in batch.prefix(count) {
            if extent.fe_logical > covered && covered < end { found.hasHole = true }
            if extent.fe_flags & UInt32(FIEMAP_EXTENT_SHARED) != 0 {
                found.isShared = true
                found.sharedBytes.addSaturating(Int64(clamping: extent.fe_length))
            } else if extent.fe_flags & UInt32(FIEMAP_EXTENT_ENCODED) != 0 {
                found.encodedBytes.addSaturating(Int64(clamping: extent.fe_length))
            }
            covered = max(covered, extent.fe_logical.addingSaturating(extent.fe_length))
            if extent.fe_flags & UInt32(FIEMAP_EXTENT_LAST) != 0 {
                if covered < end { found.hasHole = true }
                return found
            }
        }
        if count == 0 {
            if covered < end { found.hasHole = true }
            return found
        }
    }
}
