import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// A download of one placeholder's content into the same inode.
///
/// Pass the pieces of the content from the snapshot in order to ``receive(_:)``, then call
/// ``endPass()``, and pass them again if that returns true; call ``abandon(because:)`` when anything
/// fails. Only holes, and data that an interrupted download of the same content left, are ever
/// overwritten: a file with data is compared with the whole content before anything is written. The
/// permission bits are restored only after the whole content has been written and compared. Once another
/// process may have the file open, since it waited until the kernel broke the lease, nothing is changed any
/// more.
package final class Download: Sendable {
    package var path: FilePath { item.place.path }
    private let record: EvictionRecord
    private let kept: KeptFile
    private let content: ContentHash
    private let item: OpenItem
    private let lock: SharedDescriptor
    private let found: FileStatus
    private let isWriting: Monitor<Bool>
    private let hasher = Monitor(SHA256())

    /// - Parameters:
    ///   - path: the current path of the placeholder: absolute, without symbolic links.
    ///   - kept: what the record of the kept snapshot says of the file.
    /// - Returns: nil when there is nothing to download: the file has no record, or its content was
    ///   complete and its time and permission bits have been restored.
    /// - Throws: ``EvictionError``: `notPlaceholder`, `recordDisagrees`, `inUse`, `noSpace` and
    ///   others. The file is then unchanged.
    package init?(
        at path: FilePath, _ record: EvictionRecord, _ kept: KeptFile,
        _ directory: EvictionDirectory
    ) throws {
        let place = try ItemPlace(path)
        let status = try place.location.fileStatus()
        guard status.kind == .regularFile else { throw EvictionError.notPlaceholder }
        guard status.owner == effectiveUser() else { throw EvictionError.foreignOwner }
        guard let lock = try directory.lock(status.identity) else { throw EvictionError.inUse }
        let item = try OpenItem(place, identity: status.identity)
        // Another process may have finished the download first.
        guard let written = try item.evictionRecord() else { return nil }
        guard written == record else { throw EvictionError.changed }
        found = try item.descriptor.status()
        guard found.size == kept.size else { throw EvictionError.notPlaceholder }
        guard kept.isAbout(record, owner: found.owner, size: found.size) else {
            throw EvictionError.recordDisagrees
        }
        guard let content = kept.content else { throw EvictionError.damagedSnapshot }
        (self.record, self.kept, self.content) = (record, kept, content)
        (self.item, self.lock) = (item, lock)
        let hasData = try item.hasData()
        isWriting = Monitor(!hasData)
        if hasData, try item.hash() == content {
            try item.requireAlone()
            try item.finish(record)
            return nil
        }
        // With these bits a kill left it while content was being freed or written. Otherwise it has
        // the time of the content, and only root can have written to it.
        let isCutOff = [fillingPermissions, openingPermissions].contains(found.permissions)
        guard
            isCutOff
                || record.hasTime(of: found) && (found.permissions == 0 || !hasData)
        else { throw EvictionError.notPlaceholder }
        let needed = (kept.dataBytes ?? kept.size).subtractingSaturating(found.allocatedSize)
        let available = try filesystemStatus(ofOpen: item.descriptor).availableBytes
        if available < needed { throw EvictionError.noSpace(missing: needed - available) }
        if !hasData { try item.setPermissions(fillingPermissions) }
    }

    /// Whether the content that arrives is written, and not only compared.
    package var writes: Bool { isWriting.withLock { $0 } }

    /// Writes the next piece of the content or, in the first of two passes, compares it.
    ///
    /// - Throws: ``EvictionError``: `damagedSnapshot` when the content is longer than the file was,
    ///   `notPlaceholder` when the file contains other data, `inUse` when the lease is lost, `noSpace`.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws {
        let start = hasher.withLock { hasher in
            let start = hasher.count
            hasher.update(bytes)
            return start
        }
        guard start.addingSaturating(Int64(bytes.count)) <= kept.size else {
            throw EvictionError.damagedSnapshot
        }
        if writes {
            try write(bytes, at: start)
        } else {
            try compare(bytes, at: start)
        }
    }

    /// Verifies that the file contains nothing but zeros and parts of its own content.
    private func compare(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        var present = [UInt8](repeating: 0, count: bytes.count)
        let count = try present.withUnsafeMutableBytes {
            try readFile(item.descriptor, at: offset, into: $0)
        }
        guard count == bytes.count, zip(present, bytes).allSatisfy({ $0 == 0 || $0 == $1 }) else {
            throw EvictionError.notPlaceholder
        }
    }

    /// Writes all blocks except those of zeros, so that holes stay holes.
    private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        var start = 0
        while start < bytes.count {
            let length = blockSize - Int((offset + Int64(start)) % Int64(blockSize))
            var end = min(bytes.count, start + length)
            if isZero(bytes[start..<end]) {
                start = end
                continue
            }
            while end < bytes.count, end - start < largestWrite {
                let next = min(bytes.count, end + blockSize)
                if isZero(bytes[end..<next]) { break }
                end = next
            }
            try item.requireAlone()
            try writeFile(
                item.descriptor, UnsafeRawBufferPointer(rebasing: bytes[start..<end]),
                at: offset + Int64(start))
            start = end
        }
    }

    private func isZero(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        bytes.allSatisfy { $0 == 0 }
    }

    /// Ends a pass over the content. The one that writes also verifies what the file contains, restores
    /// its time and permission bits, and removes its record.
    ///
    /// - Returns: whether the content was only compared and must be passed again, to be written.
    /// - Throws: ``EvictionError``: `damagedSnapshot` when the content differs from the record; then call
    ///   ``abandon(because:)``.
    package func endPass() throws -> Bool {
        let sum = hasher.withLock { hasher in
            defer { hasher = SHA256() }
            return hasher
        }
        guard sum.count == kept.size, ContentHash(sum) == content else {
            throw EvictionError.damagedSnapshot
        }
        guard writes else {
            try item.requireAlone()
            try item.setPermissions(fillingPermissions)
            isWriting.withLock { $0 = true }
            return true
        }
        try synchronize(item.descriptor)
        // The hash of what the file contains, not only of what was written.
        let isWhole = try item.hash() == content
        try item.requireAlone()
        guard isWhole else { throw EvictionError.changed }
        try item.finish(record)
        return false
    }

    /// Makes the file a placeholder again. Before anything was written it stays as it was found; one
    /// that another program changed meanwhile gets its time and permission bits back, and one that another
    /// program may have open now stays as it is.
    package func abandon(because error: EvictionError) throws {
        // Where that cannot be found out, another program may have it open, too.
        guard writes, (try? item.requireAlone()) != nil else { return }
        if error == .changed {
            try setModificationTime(found.contentModificationTime, of: item.descriptor)
            return try item.setPermissions(found.permissions)
        }
        // Without its record the file was whole: only a later step failed.
        guard try item.evictionRecord() != nil else { return }
        try item.setPermissions(fillingPermissions)
        try item.punch(size: kept.size)
        try item.settle(record, size: kept.size)
    }
}

/// The length, in bytes, of the shortest hole that is kept.
private let blockSize = 4096
/// The most bytes that are written before the lease is asked again.
private let largestWrite = 1 << 20

/// The result of recovering a file whose eviction or download was interrupted.
package enum Recovery: Sendable, Hashable {
    /// No eviction or download was in progress.
    case settled
    /// The file was lent a permission bit, which was taken back.
    case whole
    case placeholder
    /// The record does not fit the file's permission bits: a download compares the content with the
    /// snapshot's and restores what is missing.
    case partial
}

extension EvictionDirectory {
    /// Finishes an interrupted eviction or download, as far as the file alone shows what to do.
    ///
    /// A file without any data becomes a placeholder. That blocks are there proves nothing: copies of
    /// placeholders may be full of zeros. So a file with data is left to ``Download``, which asks the
    /// snapshot.
    ///
    /// - Parameter path: absolute, without symbolic links.
    /// - Throws: ``EvictionError``: `inUse` while the file is being evicted or downloaded, and others.
    package func recover(at path: FilePath) throws -> Recovery {
        let place = try ItemPlace(path)
        let status = try place.location.fileStatus()
        guard status.kind == .regularFile, status.owner == effectiveUser() else { return .settled }
        let record = try place.location.evictionRecord()
        guard needsRecovery(status, record) else { return .settled }
        // Opening a placeholder would lend it permission bits for a moment.
        if let record, case .placeholder = EvictionSign(place.location, status, record) {
            return .settled
        }
        guard let lock = try lock(status.identity) else { throw EvictionError.inUse }
        defer { withExtendedLifetime(lock) {} }
        let item = try OpenItem(place, identity: status.identity)
        // A previous holder of the lock may have finished it.
        let (current, found) = (try item.descriptor.status(), try item.evictionRecord())
        guard needsRecovery(current, found) else { return .settled }
        guard let record = found else {
            try item.setPermissions(current.permissions & ~lentPermissions)
            return .whole
        }
        guard [0, fillingPermissions, openingPermissions].contains(current.permissions),
            try !item.hasData()
        else { return .partial }
        // Without permission bits it is a placeholder already, or another program changed its time.
        if current.permissions == 0 { return .settled }
        try item.settle(record, size: current.size)
        return .placeholder
    }

    private func needsRecovery(_ status: FileStatus, _ record: EvictionRecord?) -> Bool {
        guard let record else { return status.hasLentPermissions }
        let isAsBefore =
            status.permissions == record.permissions
            && status.contentModificationTime == record.modified
        return isAsBefore || status.hasLentPermissions
            || [0, fillingPermissions].contains(status.permissions)
    }
}
