import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// The result of recovering a file whose eviction or download was interrupted.
package enum Recovery: Sendable, Hashable {
    /// No eviction or download was in progress.
    case settled
    /// The file is whole again, as before the eviction, and has no record.
    case whole
    /// The file is a placeholder.
    case placeholder
    /// Parts of the content are missing: a download from the snapshot restores them.
    case partial
    /// The file was replaced or changed since the record was made; it was left as it is.
    case ordinary
    /// The path does not exist or leads to another file.
    case gone
}

extension Journal {
    /// Finishes an interrupted eviction or download, without the repository.
    ///
    /// The permission bits and the time of a whole file are restored. A file without any data becomes a
    /// placeholder. A file with parts of its content is left to ``Download``. A file that its owner has
    /// changed is not touched.
    ///
    /// - Parameters:
    ///   - known: a record of this journal.
    ///   - path: the current path of the file; nil for the path in the record.
    /// - Throws: ``EvictionError``: `inUse` while the file is being evicted or downloaded, and others.
    package func recover(
        _ known: EvictedFile, at path: FilePath? = nil
    ) throws -> Recovery {
        guard known.state != .evicted else { return .settled }
        guard let lock = try lock(known.identity) else { throw EvictionError.inUse }
        defer { withExtendedLifetime(lock) {} }
        return try recover(known, at: ItemPlace(path ?? known.path))
    }

    /// Recovers a file like the public `recover(_:at:)`, for a caller that has the lock.
    func recover(_ known: EvictedFile, at place: ItemPlace) throws -> Recovery {
        // A previous holder of the lock may have finished it.
        guard let record = try record(named: known.identity), record.state != .evicted else {
            return .settled
        }
        guard let status = try place.location.statusIfPresent(),
            record.isAbout(status, at: place.path)
        else { return .gone }
        guard status.kind == .regularFile, status.size == record.size else {
            return try leave(record)
        }
        let item = try OpenItem(place, identity: status.identity)
        return try recover(record, item)
    }

    private func recover(_ record: EvictedFile, _ item: OpenItem) throws -> Recovery {
        if try item.hash() == record.content {
            try finish(item, record)
            return .whole
        }
        // A full disk may have prevented storing the next state; then the file itself has the record.
        if record.state == .held, try item.evictionRecord() == nil { return try leave(record) }
        // Other permission bits were set since, so the owner may have changed the content.
        let status = try item.status()
        guard [0, 0o200, 0o600, openingPermissions].contains(status.permissions) else {
            return .ordinary
        }
        guard try !item.hasData() else { return .partial }
        _ = try settle(item, record)
        return .placeholder
    }

    /// Leaves a file that its owner changed after the record was made.
    private func leave(_ record: EvictedFile) throws(FileError) -> Recovery {
        // Until blocks are freed, the record has nothing that the file does not have itself.
        if record.state == .held { try removeRecord(of: record.identity) }
        return .ordinary
    }

    /// Restores the time and permission bits of a whole file, and removes its record from the file and
    /// from the journal.
    func finish(_ item: OpenItem, _ record: EvictedFile) throws {
        try item.setModificationTime(record.modified)
        if try item.evictionRecord() != nil {
            try item.setEvictionRecord(nil, permissions: record.accessPermissions)
        }
        try item.setPermissions(record.accessPermissions)
        try item.synchronize()
        try removeRecord(of: record.identity)
        // The file is whole; an old reason that stays is replaced by that of the next failure.
        try? downloads.note(nil, of: record.identity)
    }
}
