import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

// Older versions kept the record of an evicted file in the journal only, in the state `evicted`.

extension Journal {
    /// Returns the journal's record of a placeholder that has no record on the file; nil for any
    /// other file.
    ///
    /// - Parameter path: absolute, without symbolic links.
    package func unrecorded(at path: FilePath) throws(FileError) -> EvictedFile? {
        let status: FileStatus
        do throws(FileError) {
            status = try path.withoutFollowing.fileStatus()
        } catch  where error.code == .noSuchFile || error.code == .notADirectory {
            return nil
        }
        guard status.kind == .regularFile, status.permissions == 0, status.owner == effectiveUser(),
            let known = try record(of: status, at: path), known.state == .evicted,
            known.hasSizeAndTime(of: status), try path.withoutFollowing.evictionRecord() == nil
        else { return nil }
        return known
    }

    /// Writes the record on a placeholder that has none.
    ///
    /// - Throws: ``EvictionError``: `notPlaceholder` when the file is not a placeholder without a
    ///   record, `inUse` and others.
    package func takeOver(
        _ known: EvictedFile, at path: FilePath, as name: EvictionRecord
    ) throws {
        let place = try ItemPlace(path)
        let status = try place.location.fileStatus()
        guard let lock = try lock(status.identity) else { throw EvictionError.inUse }
        defer { withExtendedLifetime(lock) {} }
        let item = try OpenItem(place, identity: status.identity)
        guard try item.evictionRecord() == nil, known.hasSizeAndTime(of: try item.status()),
            try !item.hasData()
        else { throw EvictionError.notPlaceholder }
        try item.setEvictionRecord(name, permissions: 0)
        try item.setPermissions(0)
        try item.synchronize()
    }
}
