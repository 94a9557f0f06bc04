import CLinux
import SystemPackage

package struct FileExtents: Sendable, Hashable {
    package var hasHole: Bool
    /// Whether an extent is shared with another file; nil where the filesystem does not report it.
    package var isShared: Bool?
    /// The bytes in shared extents, as far as known.
    package var sharedBytes: Int64 = 0
    /// Where the first shared extent begins on the filesystem; nil where none is, as far as known.
    package var sharedStart: UInt64?
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
package func fileExtents(
    of location: borrowing some FileLocation & ~Copyable, size: Int64
) throws(Errno) -> FileExtents? {
    try withOpenFile(at: location) { descriptor throws(Errno) in
        try fileExtents(ofOpen: descriptor, size: size)
    }
}

/// An extent of a file that shares its blocks with another, in bytes.
package struct SharedExtent: Sendable, Hashable {
    /// Where it begins on the filesystem.
    package let start: UInt64
    package let length: UInt64
}

/// Returns the extents that a regular file shares with other files: `FS_IOC_FIEMAP`. Opens the
/// file, unless the location is a descriptor.
///
/// Extents that are inline, not allocated yet or encoded have no address that could be compared with
/// those of other files, and are left out.
///
/// - Returns: nil where the filesystem does not report extents.
package func sharedExtents(
    of location: borrowing some FileLocation & ~Copyable
) throws(Errno) -> [SharedExtent]? {
    var extents: [SharedExtent] = []
    let addressless =
        FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_ENCODED
        | FIEMAP_EXTENT_DATA_INLINE
    do throws(Errno) {
        try withOpenFile(at: location) { descriptor throws(Errno) in
            try forEachExtent(of: descriptor) { extent in
                guard extent.fe_flags & UInt32(FIEMAP_EXTENT_SHARED) != 0,
                    extent.fe_flags & UInt32(addressless) == 0, extent.fe_length > 0
                else { return }
                extents.append(
                    SharedExtent(start: extent.fe_physical, length: extent.fe_length))
            }
        }
    } catch .notSupported, .inappropriateIOCTLForDevice {
        return nil
    }
    return extents
}

private func withOpenFile<Result>(
    at location: borrowing some FileLocation & ~Copyable,
    _ body: (FileDescriptor) throws(Errno) -> Result
) throws(Errno) -> Result {
    // Opening a file again breaks its lease, even that of the process that opens it.
    if let opened = location.openDescriptor { return try body(opened) }
    let file = OwnedDescriptor(
        try openPreservingAccessTime(location, flags: [.readOnly, .nonBlocking, .noTerminal]))
    return try body(file.descriptor)
}

private func mappedExtents(
    _ descriptor: FileDescriptor, size: Int64
) throws(Errno) -> FileExtents {
    var found = FileExtents(hasHole: false, isShared: false)
    let end = UInt64(clamping: size)
    var covered: UInt64 = 0
    try forEachExtent(of: descriptor) { extent in
        if extent.fe_logical > covered && covered < end { found.hasHole = true }
        covered = max(covered, extent.fe_logical.addingSaturating(extent.fe_length))
        if extent.fe_flags & UInt32(FIEMAP_EXTENT_SHARED) != 0 {
            found.isShared = true
            found.sharedStart = found.sharedStart ?? extent.fe_physical
            found.sharedBytes.addSaturating(Int64(clamping: extent.fe_length))
        } else if extent.fe_flags & UInt32(FIEMAP_EXTENT_ENCODED) != 0 {
            found.encodedBytes.addSaturating(Int64(clamping: extent.fe_length))
        }
    }
    if covered < end { found.hasHole = true }
    return found
}

/// Calls `body` with each extent of an open file, in the order of their offsets.
private func forEachExtent(
    of descriptor: FileDescriptor, _ body: (fiemap_extent) -> Void
) throws(Errno) {
    var covered: UInt64 = 0
    var batch = [fiemap_extent](repeating: fiemap_extent(), count: Int(LINUX_EXTENT_CAPACITY))
    while true {
        let count = try perform(.ioctl) {
            linux_get_extents(descriptor.rawValue, covered, &batch)
        }
        for extent in batch.prefix(count) {
            body(extent)
            covered = max(covered, extent.fe_logical.addingSaturating(extent.fe_length))
            if extent.fe_flags & UInt32(FIEMAP_EXTENT_LAST) != 0 { return }
        }
        if count == 0 { return }
    }
}
