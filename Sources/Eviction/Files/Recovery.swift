import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// The result of recovering a file whose eviction or download was interrupted.
package enum Recovery: Sendable, Hashable {
    /// No eviction or download was in progress.
    case settled
    /// The file was lent a permission bit, which was taken back.
    case whole
    /// The file is a placeholder now.
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
        let current = try item.status()
        guard let record = try item.evictionRecord() else {
            guard current.hasLentPermissions else { return .settled }
            try item.setPermissions(current.permissions & ~lentPermissions)
            return .whole
        }
        guard needsRecovery(current, record) else { return .settled }
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
