import FileTree
import SystemCalls

/// Where the threads of a search bring what they find.
struct UnitSink: Sendable {
    private let units: FirstUnits
    private let keep: @Sendable ([UInt8], KeepReason) -> Void

    /// - Parameter keep: called for what would be deleted but for a reason, from any thread.
    init(_ units: FirstUnits, keep: @escaping @Sendable ([UInt8], KeepReason) -> Void) {
        self.units = units
        self.keep = keep
    }

    /// Notes that something is kept.
    func note(_ path: [UInt8], _ reason: KeepReason) { keep(path, reason) }

    /// Adds a directory that has been walked.
    func add(_ start: UnitStart, _ portion: UnitPortion) {
        if let reason = portion.keepReason { return note(start.path, reason) }
        if portion.lastUse > start.newestAllowed { return note(start.path, .tooYoung) }
        if portion.bytes == 0 { return note(start.path, .freesNothing) }
        units.add(
            PurgeUnit(
                path: start.path, purgeClass: start.purgeClass, isDirectory: true,
                identity: start.status.identity, lastUse: portion.lastUse, bytes: portion.bytes,
                itemCount: portion.itemCount,
                pin: PurgePin(start.status, newestChange: portion.newestChange)))
    }

    /// Adds a file that is a unit by itself.
    func add(
        file entry: borrowing TreeEntry, _ status: FileStatus, _ purgeClass: PurgeClass,
        _ rules: PurgeRules
    ) {
        let lastUse = status.lastUse
        if let reason = reasonToKeep(entry, status, lastUse, rules.newestAllowed) {
            return note(pathBytes(of: entry), reason)
        }
        units.add(
            PurgeUnit(
                path: pathBytes(of: entry), purgeClass: purgeClass, isDirectory: false,
                identity: status.identity, lastUse: lastUse, bytes: status.allocatedSize,
                itemCount: 1,
                pin: PurgePin(status, newestChange: status.attributeModificationTime)))
    }

    private func reasonToKeep(
        _ entry: borrowing TreeEntry, _ status: FileStatus, _ lastUse: FileTime,
        _ newestAllowed: FileTime
    ) -> KeepReason? {
        if Companions.isCompanion(entry.nameBytes) { return .companion }
        if lastUse > newestAllowed { return .tooYoung }
        if status.linkCount > 1 || status.allocatedSize == 0 { return .freesNothing }
        return nil
    }
}
