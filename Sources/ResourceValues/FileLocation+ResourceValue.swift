import SystemCalls
import SystemPackage

extension FileLocation where Self: ~Copyable {
    /// The value of any key: stored values by `getxattr(2)`, the others by `statx(2)`, and those of
    /// the volume by `fstatvfs(3)`.
    ///
    /// ``ResourceKey/isSymbolicLink`` asks about what the location leads to: use a location that does
    /// not follow links.
    ///
    /// - Returns: nil when the key is unset, does not apply to this kind of file, or is not known;
    ///   never 0 for unknown.
    /// - Throws: ``FileError``, as ``value(for:)``; for computed keys those of `statx(2)`.
    @inlinable
    public func resourceValue(for key: ResourceKey) throws(FileError) -> ResourceValue? {
        switch key {
        case .isExcludedFromBackup:
            return try value(for: .isExcludedFromBackup).map { .boolean($0) }
        case .isPurgeable:
            return try value(for: .isPurgeable).map { .boolean($0) }
        case .fileProtection:
            return try value(for: .fileProtection).map { .protection($0) }
        case .volumeTotalCapacity:
            return try volumeCapacity().map { .number($0.total) }
        case .volumeAvailableCapacity:
            return try volumeCapacity().map { .number($0.available) }
        case .volumeAvailableCapacityForOpportunisticUsage:
            return try volumeCapacity().map { .number($0.availableForOpportunisticUsage()) }
        case .volumeAvailableCapacityForImportantUsage:
            return nil
        default:
            return try fileStatus().resourceValue(for: key)
        }
    }

    /// The size of the volume the item is on, and what is available there: `fstatvfs(3)`.
    ///
    /// - Returns: nil where the filesystem does not count blocks (proc, sysfs).
    /// - Throws: ``FileError``, those of `openat(2)` with `O_PATH` and of `fstatvfs(3)`.
    public func volumeCapacity() throws(FileError) -> VolumeCapacity? {
        do throws(Errno) {
            return VolumeCapacity(try filesystemStatus(of: self))
        } catch {
            throw .readingStatus(error, of: pathForMessages)
        }
    }

    @usableFromInline
    func fileStatus() throws(FileError) -> FileStatus {
        do throws(Errno) {
            return try status()
        } catch {
            throw .readingStatus(error, of: pathForMessages)
        }
    }
}

extension FileStatus {
    /// The value of a key that `statx(2)` answers; nil for other keys and where it is not known.
    public func resourceValue(for key: ResourceKey) -> ResourceValue? {
        let isRegularFile = kind == .regularFile
        switch key {
        case .fileSize, .totalFileSize: return isRegularFile ? .number(size) : nil
        case .fileAllocatedSize, .totalFileAllocatedSize:
            return isRegularFile ? .number(allocatedSize) : nil
        case .linkCount: return .number(Int64(linkCount))
        case .isDirectory: return .boolean(kind == .directory)
        case .isRegularFile: return .boolean(isRegularFile)
        case .isSymbolicLink: return .boolean(kind == .symbolicLink)
        case .contentModificationDate: return .date(contentModificationTime)
        case .contentAccessDate: return .date(contentAccessTime)
        case .attributeModificationDate: return .date(attributeModificationTime)
        case .creationDate: return creationTime.map { .date($0) }
        default: return nil
        }
    }
}

/// How large a volume is and what is available on it, in bytes.
public struct VolumeCapacity: Sendable, Hashable {
    /// The size of the volume in bytes (`f_blocks` × `f_frsize`).
    public let total: Int64
    /// What an ordinary user may still store, in bytes (`f_bavail` × `f_frsize`); at most ``total``.
    public let available: Int64

    /// Reads the capacity from a filesystem's status; nil where it does not count blocks.
    public init?(_ status: FilesystemStatus) {
        guard status.blocks > 0 else { return nil }
        total = Int64(clamping: status.blocks.multipliedSaturating(by: status.fragmentSize))
        // A filesystem that says there is more left than there is at all is not believed.
        let left = status.availableBlocks.multipliedSaturating(by: status.fragmentSize)
        available = min(Int64(clamping: left), total)
    }

    /// The reserve, in bytes, that stays free of what nobody asked for: a tenth of the volume, at most
    /// 5 GiB.
    public var usualReserve: Int64 { min(total / 10, 5 << 30) }

    /// What may be stored of importance, in bytes: available, and what a purge would free.
    ///
    /// - Parameter purgeable: what a purge would free; 0 where no plan for one is known.
    /// - Returns: at least ``available``, at most ``total``.
    public func availableForImportantUsage(purgeable: Int64 = 0) -> Int64 {
        min(available.addingSaturating(max(purgeable, 0)), total)
    }

    /// What may be stored that nobody asked for, in bytes.
    ///
    /// - Parameter reserve: what stays free of it; nil takes ``usualReserve``.
    /// - Returns: at least 0, at most ``available``.
    public func availableForOpportunisticUsage(reserve: Int64? = nil) -> Int64 {
        max(0, available - max(reserve ?? usualReserve, 0))
    }
}
