import EffectiveValues
import SystemCalls
import SystemPackage

/// Settles what an interrupted purge left behind: only what the journal lists, only when
/// filesystem, inode and birth time match, and only what is neither protected nor in use now.
struct Leftovers {
    let journal: PurgeJournal
    /// Returns the examiner of a directory that was put aside.
    let examiner: (FilePath) throws(FileError) -> UnitExaminer

    func settle(_ event: (PurgeEvent) -> Void) {
        for record in journal.records {
            do throws(FileError) {
                guard let state = try settle(record) else { continue }
                let path = FilePath(bytes: record.path).withoutFollowing
                // Something new may have its name.
                let isGone = state == .finished && (try? path.status()) == nil
                let isShown = state == .restored || isGone
                event(.leftover(path: isShown ? record.path : record.asidePath, state))
            } catch {
                event(.leftover(path: record.asidePath, .failed(error)))
            }
        }
    }

    /// Finishes or undoes the removal of one record.
    ///
    /// - Returns: the outcome; nil when there was nothing to do.
    private func settle(_ record: AsideRecord) throws(FileError) -> LeftoverState? {
        // The parent directory was moved, or its volume is not mounted.
        guard let place = try place(of: record) else {
            return .leftAlone(.unreachable)
        }
        let found = try calls(on: FilePath(bytes: record.asidePath)) { () throws(Errno) in
            try place.status(of: record.asideName)
        }
        guard let found else {
            try forget(record, in: place)
            return nil
        }
        guard journal.filesystems.isIdentity(record.identity, of: found), found.kind == .directory
        else {
            try journal.remove([record])
            return .leftAlone(.unidentified)
        }
        let identity = found.identity
        if record.state == .aside { return try restore(record, place) }
        let examiner = try examiner(FilePath(bytes: record.asidePath))
        if let reason = examiner.reasonToKeep(record, found, in: place) {
            return .leftAlone(.kept(reason))
        }
        var unlinked: Set<FileIdentity> = []
        let removed = try TreeRemoval.remove(
            record.asideName, identity, in: place.parent, path: record.asidePath,
            newestChange: record.newestChange,
            known: record.knownInodes.map { inodes in
                Set(inodes.map { FileIdentity(device: identity.device, inode: $0) })
            }, unlinked: &unlinked)
        // Under its own name a partly removed directory would look whole. The record remains for
        // the next run.
        guard removed else { return .partlyRemoved }
        try forget(record, in: place)
        return .finished
    }

    private func restore(
        _ record: AsideRecord, _ place: UnitEntry
    ) throws(FileError) -> LeftoverState {
        do throws(Errno) {
            try renameItem(
                FilePath(bytes: record.asideName), in: place.directory,
                to: FilePath(bytes: record.name), in: place.directory, .absent)
        } catch .fileExists {
            return .leftAlone(.nameTaken)
        } catch {
            throw FileError(error, of: FilePath(bytes: record.asidePath))
        }
        try forget(record, in: place)
        return .restored
    }

    /// Ends a record once its directory is as it says on the disk, too.
    private func forget(_ record: AsideRecord, in place: UnitEntry) throws(FileError) {
        try place.synchronizeParent()
        try journal.remove([record])
    }

    private func place(of record: AsideRecord) throws(FileError) -> UnitEntry? {
        try calls(on: FilePath(bytes: record.parentPath), FileError.opening) {
            () throws(Errno) in
            guard let parent = try openPlainDirectory(record.parentPath) else { return nil }
            let status = try parent.status()
            guard journal.filesystems.isIdentity(record.parent, of: status) else { return nil }
            return UnitEntry(
                name: record.name, parentPath: record.parentPath, parent: parent,
                parentStatus: status)
        }
    }
}

/// Opens a directory by a path without symbolic links; nil when it does not exist.
private func openPlainDirectory(_ path: [UInt8]) throws(Errno) -> OpenDirectory? {
    do throws(FileError) {
        // Purges do not enter remote filesystems, which may never answer.
        if try MountTable.current().isRemote(FilePath(bytes: path)) { return nil }
    } catch {
        throw error.errno ?? .ioError
    }
    let root = try OpenDirectory(at: "/")
    if path.isEmpty { return root }
    guard let names = RelativePath(absolute: path)?.names else { return nil }
    return try ifPresent { () throws(Errno) in try root.openDirectory(along: names) }
}
