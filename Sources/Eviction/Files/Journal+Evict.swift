import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// The kept snapshot that contains the content of evicted files.
package struct PinnedSnapshot: Sendable, Hashable {
    /// The snapshot's identifier.
    package let snapshot: String
    /// The snapshot's unique tag, which protects it from `forget`.
    package let tag: String
    /// The location of the repository, in absolute form.
    package let repository: [UInt8]

    /// Creates a description of a snapshot.
    package init(snapshot: String, tag: String, repository: [UInt8]) {
        self.snapshot = snapshot
        self.tag = tag
        self.repository = repository
    }
}

extension Journal {
    /// Frees the blocks of a file whose content is in a snapshot.
    ///
    /// The eviction can be interrupted after any step without losing content. On a full disk the states
    /// are not stored; the record on the file and the kept snapshot are then enough to finish it.
    ///
    /// 1. The state `held` is stored in the journal.
    /// 2. Under a write lease, so that no other process has the file open, the content is hashed and
    ///    compared with what the snapshot returned, and the file's status and name are compared with
    ///    those of the candidate.
    /// 3. The state `punching` is stored in the journal.
    /// 4. The record is written on the file and the permission bits are removed. Both are on disk
    ///    before the first block is freed, so that no unprivileged process reads zeros.
    /// 5. The blocks are freed, the modification time is restored, and the journal's record is removed.
    ///
    /// - Parameters:
    ///   - candidate: the file, as ``candidate(at:)`` returned it.
    ///   - name: the record to write on the file.
    ///   - pinned: the snapshot.
    ///   - content: the hash of what the snapshot returned for the file's path.
    ///   - shouldStop: called while the file is read; a file that is not punched yet is left whole.
    /// - Returns: the number of bytes freed.
    /// - Throws: ``EvictionError``. The file is unchanged unless the error occurred after the first
    ///   block was freed: then the record remains, and the content can be restored.
    package func evict(
        _ candidate: EvictionCandidate, _ name: EvictionRecord, pinned: PinnedSnapshot,
        content: ContentHash, shouldStop: () -> Bool = { false }
    ) throws -> Int64 {
        guard let lock = try lock(candidate.status.identity) else { throw EvictionError.inUse }
        defer { withExtendedLifetime(lock) {} }
        // A previous holder of the lock may have evicted the file.
        let current = try inspect(candidate.path)
        guard current.status.isUnchanged(since: candidate.status) else {
            throw EvictionError.changed
        }
        try requireFreeName(for: current.status)
        let record = EvictedFile(
            path: candidate.path, status: candidate.status, content: content,
            snapshot: pinned.snapshot, pinTag: pinned.tag, repository: pinned.repository)
        try storeStep(record)
        var isTouched = false
        do {
            let item = try OpenItem(ItemPlace(candidate.path), identity: record.identity)
            try compare(item, record, shouldStop)
            try storeStep(record.inState(.punching))
            return try punch(item, record, name, &isTouched)
        } catch {
            if !isTouched { try removeRecord(of: record.identity) }
            throw error
        }
    }

    /// Verifies that the journal has no record of another file under the same device and inode, such
    /// as a file on a filesystem that had the device number before a reboot. That record would be
    /// overwritten.
    private func requireFreeName(for status: FileStatus) throws {
        let other = try record(named: status.identity)
        guard let other, other.state != .held, !other.isOnFilesystem(of: status)
        else { return }
        throw EvictionError.failed(
            "was left alone: the journal has an evicted file of another filesystem with the same "
                + "device and inode (to find it and download it first: resval-backup evicted)")
    }

    /// Verifies that the file is the one in the snapshot, that it is not changing, and that no other
    /// process has tried to open it.
    private func compare(
        _ item: OpenItem, _ record: EvictedFile, _ shouldStop: () -> Bool
    ) throws {
        let before = try item.status()
        guard record.hasSizeAndTime(of: before), before.linkCount == 1,
            before.permissions == record.permissions
        else { throw EvictionError.changed }
        guard let hash = try item.hash(shouldStop: shouldStop) else {
            throw EvictionError.failed("stopped")
        }
        guard hash == record.content else { throw EvictionError.contentDiffers }
        let after = try item.status()
        guard after.isUnchanged(since: before),
            after.attributeModificationTime == before.attributeModificationTime,
            try item.place.location.fileStatus().identity == record.identity
        else { throw EvictionError.changed }
        guard try item.isUndisturbed() else { throw EvictionError.inUse }
    }

    private func punch(
        _ item: OpenItem, _ record: EvictedFile, _ name: EvictionRecord,
        _ isTouched: inout Bool
    ) throws -> Int64 {
        do {
            try item.setEvictionRecord(name, permissions: record.accessPermissions)
            try item.setPermissions(0)
            try item.synchronize()
            // A process that passed the permission check, or is exempt from it, has broken the lease
            // and waits.
            guard try item.isUndisturbed() else { throw EvictionError.inUse }
            guard record.hasSizeAndTime(of: try item.status()) else { throw EvictionError.changed }
            isTouched = true
            try item.punch(size: record.size)
        } catch {
            // A refused call has punched nothing.
            let isWhole = isTouched ? try item.hash() == record.content : true
            if isWhole {
                // A refused call may still have set the modification time.
                if isTouched { try item.setModificationTime(record.modified) }
                isTouched = false
                try item.setEvictionRecord(nil, permissions: record.accessPermissions)
                try item.setPermissions(record.accessPermissions)
            }
            throw error
        }
        return try settle(item, record)
    }

    /// Turns a punched file into a placeholder.
    ///
    /// - Returns: the allocated size that remains, in bytes.
    /// - Throws: ``EvictionError``: `unfinished` when the file still has data, or another size or time.
    func settle(_ item: OpenItem, _ record: EvictedFile) throws -> Int64 {
        try item.setPermissions(0)
        try item.setModificationTime(record.modified)
        try item.synchronize()
        let status = try item.status()
        guard try !item.hasData(), record.hasSizeAndTime(of: status) else {
            throw EvictionError.unfinished
        }
        // A file evicted by a version that wrote no record on the file: see `takeOver`.
        if try item.evictionRecord() == nil {
            try storeStep(record.inState(.evicted))
        } else {
            try removeRecord(of: record.identity)
        }
        return status.allocatedSize
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
