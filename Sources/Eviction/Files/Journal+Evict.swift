import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// The snapshot that holds the content of evicted files.
public struct HoldSnapshot: Sendable, Hashable {
    /// Its identifier.
    public let snapshot: String
    /// Its tag, which no other has and no `forget` touches.
    public let tag: String
    /// The repository, in the words that name it.
    public let repository: [UInt8]

    /// Creates a description.
    public init(snapshot: String, tag: String, repository: [UInt8]) {
        self.snapshot = snapshot
        self.tag = tag
        self.repository = repository
    }
}

extension Journal {
    /// Frees the blocks of a file whose content a snapshot holds.
    ///
    /// Each step is safe to be the last. The step `held` comes first. Under a write lease, so that
    /// nobody has the file open, the content is hashed and compared with what the snapshot gave back;
    /// file and name are compared with what they were; the step `punching` is on the disk before
    /// anything is taken away. The record comes onto the file and the permission bits go, both on the
    /// disk before the first block goes, so that no process that may not read everything reads zeros.
    /// Then the blocks go, the time of modification comes back, and the journal forgets the file.
    ///
    /// - Parameters:
    ///   - candidate: the file, as ``candidate(at:)`` found it.
    ///   - name: the record that the file gets.
    ///   - hold: the snapshot.
    ///   - content: the hash of what the snapshot gave back for the file's path.
    ///   - shouldStop: asked while the file is read; a file that is not punched yet is left whole.
    /// - Returns: the number of bytes freed.
    /// - Throws: ``EvictionError``. The file is as it was, unless the error is of the steps after the
    ///   first block went: then the record stays, and the content can be brought back.
    public func evict(
        _ candidate: EvictionCandidate, _ name: EvictionRecord, hold: HoldSnapshot,
        content: ContentHash, shouldStop: () -> Bool = { false }
    ) throws(EvictionError) -> Int64 {
        guard
            let lock = try journaling({ () throws(FileError) in
                try lock(candidate.status.identity)
            })
        else { throw .inUse }
        defer { withExtendedLifetime(lock) {} }
        // Whoever had the lock before may have evicted the file.
        let current = try self.candidate(at: candidate.path)
        guard current.status.isUnchanged(since: candidate.status) else { throw .changed }
        try requireFreeName(for: current.status)
        let record = EvictedFile(
            path: candidate.path, status: candidate.status, content: content,
            snapshot: hold.snapshot, holdTag: hold.tag, repository: hold.repository)
        try storeStep(record)
        var isTouched = false
        do throws(EvictionError) {
            let item = try OpenItem(ItemPlace(candidate.path), identity: record.identity)
            try compare(item, record, shouldStop)
            try storeStep(record.inState(.punching))
            return try punch(item, record, name, &isTouched)
        } catch {
            if !isTouched {
                try journaling { () throws(FileError) in try removeRecord(of: record.identity) }
            }
            throw error
        }
    }

    /// Makes sure that no other file loses its record, such as one of a filesystem whose device had the
    /// number before the machine was started.
    private func requireFreeName(for status: FileStatus) throws(EvictionError) {
        let other = try journaling { () throws(FileError) in try record(named: status.identity) }
        guard let other, other.state != .held, !other.isOnFilesystem(of: status)
        else { return }
        throw .failed(
            "was left alone: the journal has an evicted file of another filesystem under the same "
                + "numbers (bring that one back first: see resval-backup evicted)")
    }

    /// Makes sure that the file is the one the snapshot holds, and at rest.
    private func compare(
        _ item: OpenItem, _ record: EvictedFile, _ shouldStop: () -> Bool
    ) throws(EvictionError) {
        let before = try item.status()
        guard record.hasSizeAndTime(of: before), before.linkCount == 1,
            before.permissions == record.permissions
        else { throw .changed }
        guard let hash = try item.hash(shouldStop: shouldStop) else { throw .failed("stopped") }
        guard hash == record.content else { throw .contentDiffers }
        let after = try item.status()
        guard after.isUnchanged(since: before),
            after.attributeModificationTime == before.attributeModificationTime,
            try item.place.status().identity == record.identity
        else { throw .changed }
        guard try item.isUndisturbed() else { throw .inUse }
    }

    private func punch(
        _ item: OpenItem, _ record: EvictedFile, _ name: EvictionRecord,
        _ isTouched: inout Bool
    ) throws(EvictionError) -> Int64 {
        do throws(EvictionError) {
            try item.setEvictionRecord(name, permissions: record.accessPermissions)
            try item.setPermissions(0)
            try item.synchronize()
            // Who may open the file in spite of its permission bits, or passed them before they went,
            // waits for the lease by now.
            guard try item.isUndisturbed() else { throw .inUse }
            guard record.hasSizeAndTime(of: try item.status()) else { throw .changed }
            isTouched = true
            try item.punch(size: record.size)
        } catch {
            // The call punches nothing where it is refused.
            let isWhole = isTouched ? try item.hash() == record.content : true
            if isWhole {
                // A call that was refused may have set the time all the same.
                if isTouched { try item.setModificationTime(record.modified) }
                isTouched = false
                try item.setEvictionRecord(nil, permissions: record.accessPermissions)
                try item.setPermissions(record.accessPermissions)
            }
            throw error
        }
        return try settle(item, record)
    }

    /// Makes a punched file the placeholder.
    func settle(_ item: OpenItem, _ record: EvictedFile) throws(EvictionError) -> Int64 {
        try item.setPermissions(0)
        try item.setModificationTime(record.modified)
        try item.synchronize()
        let status = try item.status()
        guard try !item.hasData(), record.hasSizeAndTime(of: status) else { throw .unfinished }
        // Versions that wrote no record on the file have left this to be taken over.
        if try item.evictionRecord() == nil {
            try storeStep(record.inState(.evicted))
        } else {
            try journaling { () throws(FileError) in try removeRecord(of: record.identity) }
        }
        return status.allocatedSize
    }
}

extension FileStatus {
    /// Whether it is the same file with the same size, time, owner, permission bits and names.
    func isUnchanged(since other: FileStatus) -> Bool {
        kind == other.kind && identity == other.identity && size == other.size
            && contentModificationTime == other.contentModificationTime
            && permissions == other.permissions && owner == other.owner
            && linkCount == other.linkCount
    }
}
