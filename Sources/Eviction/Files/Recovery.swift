import ResourceValues
import SystemCalls
import SystemPackage

/// What became of a file whose eviction or download was cut off.
public enum Recovery: Sendable, Hashable {
    /// Nothing was under way.
    case settled
    /// It is whole again, as it was before, and has no record.
    case whole
    /// It is a placeholder now.
    case placeholder
    /// Parts of its content are missing: bring it back with its snapshot.
    case partial
    /// It is another file by now, or has other content; it was left alone.
    case ordinary
    /// Nothing has its path, or another file has it.
    case gone
}

extension Journal {
    /// Finishes, without the repository, what a crash cut off.
    ///
    /// A file that is whole gets its permission bits and its time back. One without any data becomes
    /// a placeholder. Anything else is left for ``Download``.
    ///
    /// - Parameters:
    ///   - known: a record of this journal.
    ///   - path: where the file is now; nil for where it was.
    /// - Throws: ``EvictionError``, `inUse` for one while it is being worked on.
    public func recover(
        _ known: EvictedFile, at path: FilePath? = nil
    ) throws(EvictionError) -> Recovery {
        guard known.state != .evicted else { return .settled }
        guard let lock = try journaling({ () throws(FileError) in try lock(known.identity) }) else {
            throw .inUse
        }
        defer { withExtendedLifetime(lock) {} }
        let place = try ItemPlace(path ?? known.path)
        return try recover(known, at: place)
    }

    /// As ``recover(_:at:)``, for who has the lock.
    func recover(_ known: EvictedFile, at place: ItemPlace) throws(EvictionError) -> Recovery {
        // Whoever had the lock before may have finished it.
        guard
            let record = try journaling({ () throws(FileError) in
                try record(named: known.identity)
            }), record.state != .evicted
        else { return .settled }
        let status: FileStatus
        do throws(EvictionError) {
            status = try place.status()
        } catch .file(let error) where error.code == .noSuchFile {
            return .gone
        }
        guard record.isAbout(status, at: place.path) else { return .gone }
        guard status.kind == .regularFile, status.size == record.size else {
            return try leave(record)
        }
        let item = try OpenItem(place, identity: status.identity)
        return try recover(record, item)
    }

    private func recover(
        _ record: EvictedFile, _ item: OpenItem
    ) throws(EvictionError) -> Recovery {
        if try item.hash() == record.content {
            try finish(item, record)
            return .whole
        }
        // A full disk may have kept the next step out of the journal: the record on the file tells it.
        if record.state == .held, try item.evictionRecord() == nil { return try leave(record) }
        // Somebody gave permission bits back: whatever the file holds now is theirs.
        let status = try item.status()
        guard [0, 0o200, 0o600].contains(status.permissions) else { return .ordinary }
        guard try !item.hasData() else { return .partial }
        _ = try settle(item, record)
        return .placeholder
    }

    /// A file that was whole when its record was made, and has been changed by its owner since.
    private func leave(_ record: EvictedFile) throws(EvictionError) -> Recovery {
        // Until the blocks go a record says nothing that the file does not.
        if record.state == .held {
            try journaling { () throws(FileError) in try removeRecord(of: record.identity) }
        }
        return .ordinary
    }

    /// Gives a whole file its time and permission bits back, takes its record away, and forgets it.
    func finish(_ item: OpenItem, _ record: EvictedFile) throws(EvictionError) {
        try item.setModificationTime(record.modified)
        if try item.evictionRecord() != nil {
            try item.setEvictionRecord(nil, permissions: record.accessPermissions)
        }
        try item.setPermissions(record.accessPermissions)
        try item.synchronize()
        try journaling { () throws(FileError) in
            try removeRecord(of: record.identity)
            try note(nil, of: record.identity)
        }
    }
}
