import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// A file that passed the checks for eviction.
package struct EvictableFile: Sendable, Hashable {
    /// The absolute path without symbolic links.
    package let path: FilePath
    package let status: FileStatus
}

extension EvictableFile {
    /// Reads the content, for the record of the snapshot that will contain it.
    ///
    /// - Returns: the hash, and the number of bytes outside holes; nil when the work was stopped.
    /// - Throws: ``EvictionError``: `inUse`, `changed` and others.
    package func measure(
        shouldStop: () -> Bool
    ) throws -> (content: ContentHash, dataBytes: Int64)? {
        let file = OwnedDescriptor(
            try openFile(
                path.withoutFollowing, flags: [.readOnly, .noFollow, .nonBlocking, .noTerminal]))
        guard try file.descriptor.status().identity == status.identity else {
            throw EvictionError.changed
        }
        let data = try countData(file.descriptor)
        let hash = try ContentHash(of: file.descriptor, shouldStop: shouldStop)
        return hash.map { ($0, data) }
    }

    private func countData(_ file: FileDescriptor) throws(Errno) -> Int64 {
        var total: Int64 = 0
        var offset: Int64 = 0
        while let start = try seekFile(file, toNext: .data, from: offset) {
            offset = try seekFile(file, toNext: .hole, from: start) ?? status.size
            guard offset > start else { break }
            total.addSaturating(offset - start)
        }
        return total
    }
}

extension EvictionDirectory {
    /// Checks whether a file can be evicted, without changing anything.
    ///
    /// Finding the file's blocks opens it, which would break the lease of a process that is evicting
    /// it. Such a process has the file's lock, so that lock is taken first where there are locks.
    ///
    /// - Parameter path: absolute, without symbolic links.
    /// - Throws: ``EvictionError``: the reason why the file cannot be evicted, also `inUse`.
    package func evictableFile(at path: FilePath) throws -> EvictableFile {
        var lock: SharedDescriptor?
        if try hasLocks {
            lock = try self.lock(path.withoutFollowing.fileStatus().identity)
            guard lock != nil else { throw EvictionError.inUse }
        }
        defer { withExtendedLifetime(lock) {} }
        return try inspect(path)
    }

    /// Does the same as ``evictableFile(at:)`` for a caller that has the lock.
    func inspect(_ path: FilePath) throws -> EvictableFile {
        let place = try ItemPlace(path)
        let status = try place.location.fileStatus()
        try checkKind(status)
        switch try EvictionSign(of: place.location, status) {
        case .placeholder, .exposed: throw EvictionError.alreadyEvicted
        case .unfinished: throw EvictionError.unfinished
        case .stale, .unrecorded, nil: break
        }
        // An unfinished file may have the sticky bit.
        if status.permissions & 0o7000 != 0 { throw EvictionError.specialBits }
        // The record may take a block.
        guard status.size > 0, status.allocatedSize > 4096 else {
            throw EvictionError.nothingToFree
        }
        try checkBlocks(of: place, status)
        return EvictableFile(path: path, status: status)
    }

    private func checkKind(_ status: FileStatus) throws(EvictionError) {
        guard status.kind == .regularFile else { throw .notRegular }
        guard status.owner == effectiveUser() else { throw .foreignOwner }
        guard status.linkCount == 1 else { throw .hardLinked(status.linkCount) }
        if status.isImmutable { throw .sealed("immutable (chattr -i)") }
        if status.isAppendOnly { throw .sealed("append-only (chattr -a)") }
        if status.isVerity { throw .sealed("sealed by fs-verity") }
    }

    private func checkBlocks(of place: ItemPlace, _ status: FileStatus) throws {
        if try fileExtents(of: place.location, size: status.size)?.isShared == true {
            throw EvictionError.sharedBlocks
        }
        do {
            if try place.location.extendedAttribute(named: "security.capability") != nil {
                throw EvictionError.capabilities
            }
        } catch let error as FileError where error.code == .unsupportedFilesystem {
            // No file there has any.
        }
        guard try canPunch(in: place) else { throw EvictionError.unsupportedFilesystem }
    }

    /// Whether the filesystem can free blocks and `SEEK_DATA` reports them as holes, tested on an
    /// unnamed file.
    private func canPunch(in place: ItemPlace) throws(Errno) -> Bool {
        do throws(Errno) {
            guard let file = try makeUnnamedFile(in: place.directory, permissions: 0o600) else {
                return false
            }
            let trial = OwnedDescriptor(file)
            try writeFile(trial.descriptor, [UInt8](repeating: 1, count: 8192))
            try punchHole(in: trial.descriptor, at: 0, length: 1 << 16)
            return try seekFile(trial.descriptor, toNext: .data, from: 0) == nil
        } catch .noSpace, .diskQuotaExceeded {
            // Without space for the test, eviction may be tried: a refused punch changes nothing.
            return true
        }
    }
}

extension EvictionDirectory {
    /// Frees the blocks of a file whose content is in a snapshot.
    ///
    /// The eviction can be interrupted after any step without losing content.
    ///
    /// 1. Under a write lease, so that no other process has the file open, the content is hashed and
    ///    compared with what the snapshot returned, and the file's status and name are compared with
    ///    those of the earlier look.
    /// 2. The record is written on the file, and its permission bits become 0200. Both are on disk
    ///    before the first block is freed, so that no unprivileged process reads zeros.
    /// 3. The lease is asked again, the blocks are freed, the modification time is restored, and the
    ///    last permission bit goes.
    ///
    /// - Parameters:
    ///   - content: the hash of what the snapshot returned for the file's path.
    ///   - shouldStop: called while the file is read; a file that is not punched yet is left whole.
    /// - Returns: the allocated size that remains, in bytes.
    /// - Throws: ``EvictionError``. The file is unchanged unless the error occurred after the first
    ///   block was freed: then the record remains, and the content can be restored.
    package func evict(
        _ file: EvictableFile, _ record: EvictionRecord, content: ContentHash,
        shouldStop: () -> Bool = { false }
    ) throws -> Int64 {
        guard let lock = try lock(file.status.identity) else { throw EvictionError.inUse }
        defer { withExtendedLifetime(lock) {} }
        // A previous holder of the lock may have evicted the file.
        guard try inspect(file.path).status.isUnchanged(since: file.status) else {
            throw EvictionError.changed
        }
        let item = try OpenItem(ItemPlace(file.path), identity: file.status.identity)
        guard record.permissions == file.status.permissions,
            record.modified == file.status.contentModificationTime
        else { throw EvictionError.changed }
        try compare(item, file.status, content, shouldStop)
        return try punch(item, record, size: file.status.size, content)
    }

    /// Verifies that the file is the one in the snapshot, that it is not changing, and that no other
    /// process has tried to open it.
    private func compare(
        _ item: OpenItem, _ known: FileStatus, _ content: ContentHash, _ shouldStop: () -> Bool
    ) throws {
        let before = try item.descriptor.status()
        guard before.isUnchanged(since: known) else { throw EvictionError.changed }
        guard let hash = try item.hash(shouldStop: shouldStop) else {
            throw EvictionError.failed("stopped")
        }
        guard hash == content else { throw EvictionError.contentDiffers }
        let after = try item.descriptor.status()
        guard after.isUnchanged(since: before),
            after.attributeModificationTime == before.attributeModificationTime,
            try item.place.location.fileStatus().identity == known.identity
        else { throw EvictionError.changed }
        guard try item.isUndisturbed() else { throw EvictionError.inUse }
    }

    private func punch(
        _ item: OpenItem, _ record: EvictionRecord, size: Int64, _ content: ContentHash
    ) throws -> Int64 {
        var isTouched = false
        do {
            try item.setEvictionRecord(record, permissions: record.permissions)
            try item.setPermissions(fillingPermissions)
            try synchronize(item.descriptor)
            // A process that passed the permission check, or is exempt from it, has broken the lease
            // and waits.
            guard try item.isUndisturbed() else { throw EvictionError.inUse }
            let status = try item.descriptor.status()
            guard status.size == size, status.contentModificationTime == record.modified else {
                throw EvictionError.changed
            }
            isTouched = true
            try item.punch(size: size)
        } catch {
            // A refused call has punched nothing.
            let isWhole = isTouched ? try item.hash() == content : true
            if isWhole {
                // A refused call may still have set the modification time.
                if isTouched { try setModificationTime(record.modified, of: item.descriptor) }
                try item.removeEvictionRecords(permissions: record.permissions)
            }
            throw error
        }
        return try item.settle(record, size: size)
    }
}

extension FileStatus {
    /// Whether it is the same file with the same size, modification time, owner, permission bits and
    /// number of hard links.
    func isUnchanged(since other: FileStatus) -> Bool {
        kind == other.kind && identity == other.identity && size == other.size
            && contentModificationTime == other.contentModificationTime
            && permissions == other.permissions && owner == other.owner
            && linkCount == other.linkCount
    }
}
