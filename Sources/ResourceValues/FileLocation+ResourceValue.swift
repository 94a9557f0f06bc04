import SystemCalls
import SystemPackage

extension FileLocation where Self: ~Copyable {
    /// Returns the value of any key: stored values by `getxattr(2)`, volume values by
    /// `fstatvfs(3)`, and all others by `statx(2)`.
    ///
    /// ``ResourceKey/isSymbolicLink`` describes the item the location resolves to: use a location
    /// that does not follow links.
    ///
    /// - Returns: nil if the key is unset, does not apply to this kind of file, or is not known;
    ///   never 0 for unknown.
    /// - Throws: ``FileError``, as ``value(for:)``; for computed keys, as `statx(2)`.
    @inlinable
    public func resourceValue(for key: ResourceKey) throws(FileError) -> ResourceValue? {
        switch key {
        case .volumeTotalCapacity:
            return try volumeCapacity().map { .number($0.total) }
        case .volumeAvailableCapacity:
            return try volumeCapacity().map { .number($0.available) }
        case .volumeAvailableCapacityForOpportunisticUsage:
            return try volumeCapacity().map { .number($0.availableForOpportunisticUsage()) }
        case .volumeAvailableCapacityForImportantUsage:
            return nil
        default:
            return try ownValue(for: key)
        }
    }

    /// Returns a value that is not one of the volume: stored on the item, or told by its status.
    @usableFromInline
    func ownValue(for key: ResourceKey) throws(FileError) -> ResourceValue? {
        guard let stored = key.stored else { return try fileStatus().resourceValue(for: key) }
        return try value(for: stored).map { .stored($0) }
    }

    /// Returns the size of the item's volume and the space available on it: `fstatvfs(3)`.
    ///
    /// - Returns: nil where the filesystem does not count blocks (proc, sysfs).
    /// - Throws: ``FileError``, as `openat(2)` with `O_PATH` and `fstatvfs(3)`.
    public func volumeCapacity() throws(FileError) -> VolumeCapacity? {
        return try calls(on: pathForMessages) { () throws(Errno) in
            VolumeCapacity(try filesystemStatus(of: self))
        }
    }
}

extension FileStatus {
    /// Returns the value of a key that `statx(2)` provides; nil for other keys and if it is not
    /// known.
    public func resourceValue(for key: ResourceKey) -> ResourceValue? {
        let isRegularFile = kind == .regularFile
        switch key {
        case .fileSize, .totalFileSize: return isRegularFile ? .number(size) : nil
        case .fileAllocatedSize, .totalFileAllocatedSize:
            return isRegularFile ? .number(allocatedSize) : nil
        case .linkCount: return .number(Int64(linkCount))
        case .isDirectory: return .flag(kind == .directory)
        case .isRegularFile: return .flag(isRegularFile)
        case .isSymbolicLink: return .flag(kind == .symbolicLink)
        case .contentModificationDate: return .date(contentModificationTime)
        case .contentAccessDate: return .date(contentAccessTime)
        case .attributeModificationDate: return .date(attributeModificationTime)
        case .creationDate: return creationTime.map { .date($0) }
        default: return nil
        }
    }
}

/// The size of a volume and the space available on it, in bytes.
public struct VolumeCapacity: Sendable, Hashable {
    /// The size of the volume in bytes (`f_blocks` × `f_frsize`).
    public let total: Int64
    /// The space available to ordinary users, in bytes (`f_bavail` × `f_frsize`); at most
    /// ``total``.
    public let available: Int64

    /// Creates a capacity from a filesystem's status; nil if the filesystem does not count blocks.
    package init?(_ status: FilesystemStatus) {
        guard status.blocks > 0 else { return nil }
        total = Int64(clamping: status.blocks.multipliedSaturating(by: status.fragmentSize))
        // Some filesystems report more available space than total space.
        available = min(status.availableBytes, total)
    }

    /// The default reserve, in bytes, that opportunistic use leaves free: a tenth of the volume, at
    /// most 5 GiB.
    public var usualReserve: Int64 { min(total / 10, 5 << 30) }

    /// Returns the space for opportunistic use, in bytes.
    ///
    /// - Parameter reserve: the space to leave free, in bytes; nil means ``usualReserve``.
    /// - Returns: at least 0, at most ``available``.
    public func availableForOpportunisticUsage(reserve: Int64? = nil) -> Int64 {
        max(0, available - max(reserve ?? usualReserve, 0))
    }
}
