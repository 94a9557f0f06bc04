import EffectiveValues
import SystemCalls
import SystemPackage

/// Deletes directory units: each is moved aside under another name, examined again, and only then
/// removed. A record is in the journal before each step.
struct DirectoryRemoval {
    let examiner: UnitExaminer
    let journal: PurgeJournal

    /// Deletes a directory that was examined.
    ///
    /// - Throws: ``KeepReason`` when it was not touched or has its name back, `FileError` when a
    ///   call failed.
    func remove(_ first: Examination) throws {
        try examiner.requireUnused(first, named: first.unit.path)
        let status = try first.status()
        let filesystems = journal.filesystems
        var record = AsideRecord(
            state: .aside, identity: filesystems.identity(of: status),
            parent: filesystems.identity(of: first.place.parentStatus),
            parentPath: first.place.parentPath,
            name: first.place.name, asideName: AsideName.make(),
            newestChange: first.contents.newestChange)
        try journal.store(record)
        try putAside(record, first.place)
        let second: Examination
        do {
            second = try lookAgain(record, first)
            record.state = .deleting
            record.knownInodes = Set(second.contents.known.map(\.inode))
            try journal.store(record)
        } catch {
            try putBack(record, first.place)
            throw error
        }
        let removed = try TreeRemoval.remove(
            record.asideName, first.unit.identity, in: second.place.parent,
            path: record.asidePath, newestChange: record.newestChange,
            known: second.contents.known)
        guard removed else { throw somethingCame(into: record) }
        try forget(record, first.place)
    }

    private func putAside(_ record: AsideRecord, _ place: UnitEntry) throws(FileError) {
        do throws(Errno) {
            try renameItem(
                FilePath(bytes: record.name), in: place.directory,
                to: FilePath(bytes: record.asideName), in: place.directory, .absent)
        } catch {
            try journal.remove(record)
            throw FileError(error, of: FilePath(bytes: record.path))
        }
    }

    private func lookAgain(
        _ record: AsideRecord, _ first: Examination
    ) throws(KeepReason) -> Examination {
        let second = try examiner.examine(
            record.path, named: record.asideName, since: first)
        guard second.isUnchanged(since: first) else { throw .changed }
        try examiner.requireUnused(second, named: record.asidePath)
        return second
    }

    private func putBack(_ record: AsideRecord, _ place: UnitEntry) throws(FileError) {
        do throws(Errno) {
            try renameItem(
                FilePath(bytes: record.asideName), in: place.directory,
                to: FilePath(bytes: record.name), in: place.directory, .absent)
        } catch {
            // The record remains, so that the next run tries again.
            var failure = FileError(error, of: FilePath(bytes: record.asidePath))
            failure.advice = "it was put aside and its name cannot be restored: rename it by hand"
            throw failure
        }
        try forget(record, place)
    }

    /// Returns the error for a directory that is partly removed. It never gets its name back,
    /// because it would look whole. Its record remains, so that each run reports it.
    private func somethingCame(into record: AsideRecord) -> FileError {
        FileError(
            code: .changed,
            message: "something came into the directory while it was removed, and was left there",
            advice: "look through it, then delete it or give it another name",
            path: FilePath(bytes: record.asidePath))
    }

    private func forget(_ record: AsideRecord, _ place: UnitEntry) throws(FileError) {
        do throws(Errno) {
            try synchronizeDirectory(place.directory)
        } catch {
            throw FileError(error, of: FilePath(bytes: record.parentPath))
        }
        try journal.remove(record)
    }
}

extension Examination {
    /// Removes the name of a unit that is not a directory, after checking that it still is what was
    /// examined. A file cannot be unlinked by descriptor: between the check and the call, a user
    /// who can write the directory could still replace the file.
    func removeFile() throws {
        try requireAtRest()
        do throws(Errno) {
            try removeItem(FilePath(bytes: place.name), in: place.directory, isDirectory: false)
        } catch {
            throw FileError(error, of: FilePath(bytes: unit.path))
        }
    }

    /// Throws unless the name still leads to the file that was examined, unchanged, and no other
    /// process tried to open it since.
    func requireAtRest() throws(KeepReason) {
        if !unit.isDirectory { try requireNoSidecars() }
        let now = try status()
        guard now.size == unit.pin.size,
            now.contentModificationTime == unit.pin.contentModificationTime,
            now.attributeModificationTime == unit.pin.attributeModificationTime
        else { throw .changed }
        try leased?.requireUndisturbed()
    }

    /// Returns the status of what now has the unit's name. Throws `changed` unless that is the unit.
    func status() throws(KeepReason) -> FileStatus {
        do throws(Errno) {
            if let status = try place.status(of: place.name), status.identity == unit.identity {
                return status
            }
        } catch {
            throw KeepReason(reaching: error)
        }
        throw .changed
    }

    /// A database is deleted only together with its sidecars, so one that has any is kept.
    private func requireNoSidecars() throws(KeepReason) {
        for suffix in DatabaseSidecars.suffixes {
            let name = place.name + Array(suffix.utf8)
            do throws(Errno) {
                if try place.status(of: name) != nil { throw Errno.fileExists }
            } catch .fileNameTooLong {
                continue
            } catch {
                throw .companion
            }
        }
    }
}

/// Removes the content of a directory, except items added or changed after the directory was
/// examined.
struct TreeRemoval {
    /// The latest inode change time when the unit was examined: anything newer was changed or moved
    /// there since.
    private let newestChange: FileTime
    /// The directories and the files with several hard links that were examined; nil after a crash,
    /// when there were too many for the journal.
    private let known: Set<FileIdentity>?
    /// Files of which this removal removed a hard link, which changed their inodes.
    private var ownChanges: Set<FileIdentity> = []

    /// Removes a directory with everything that was in it when it was examined.
    ///
    /// - Returns: false when the directory remains, with what was added since.
    static func remove(
        _ name: [UInt8], _ identity: FileIdentity, in parent: OpenDirectory, path: [UInt8],
        newestChange: FileTime, known: Set<FileIdentity>?
    ) throws(FileError) -> Bool {
        do {
            var removal = TreeRemoval(newestChange: newestChange, known: known)
            return try removal.remove(FilePath(bytes: name), identity, in: parent)
        } catch {
            let path = FilePath(bytes: path)
            let reason = KeepReason(reaching: error)
            guard case .unreadable(let errno) = reason else {
                throw FileError(
                    code: .changed, message: "it was not removed completely: \(reason.sentence)",
                    path: path)
            }
            throw FileError(errno, of: path)
        }
    }

    private init(newestChange: FileTime, known: Set<FileIdentity>?) {
        self.newestChange = newestChange
        self.known = known
    }

    private mutating func remove(
        _ top: FilePath, _ identity: FileIdentity, in parent: OpenDirectory
    ) throws -> Bool {
        var isRemoved = false
        var walk = DirectoryWalk(in: parent, names: EntryNames([top.bytes]), context: identity)
        while let step = try walk.next() {
            let directory = walk.directory
            switch step {
            case .end(let name, let identity):
                isRemoved = try removeDirectory(name, identity, in: directory)
            case .entry(let name):
                let status = try directory.location(of: name).statusAtHand()
                if walk.depth == 0, status.identity != identity { throw KeepReason.changed }
                guard status.kind == .directory else {
                    try removeFile(name, status, in: directory)
                    continue
                }
                let opened = try directory.openToRead(name)
                let now = try opened.status()
                guard now.identity == status.identity else { throw KeepReason.changed }
                guard walk.depth == 0 || isKnown(now) else { continue }
                let names = try opened.names()
                walk.enter(opened, names: names, context: now.identity)
            }
        }
        return isRemoved
    }

    /// Removes the name of an item that is not a directory, unless it is newer than the
    /// examination.
    private mutating func removeFile(
        _ name: FilePath, _ status: FileStatus, in directory: OpenDirectory
    ) throws {
        guard
            status.attributeModificationTime <= newestChange
                || ownChanges.contains(status.identity) || isOnlyUnlinked(status)
        else { return }
        try directory.remove(name)
        if status.linkCount > 1 { ownChanges.insert(status.identity) }
    }

    /// Whether a file was there when the unit was examined, and since then only lost a hard link,
    /// before a crash. The birth time excludes a new file that reuses the inode.
    private func isOnlyUnlinked(_ status: FileStatus) -> Bool {
        guard let known, known.contains(status.identity), let made = status.creationTime else {
            return false
        }
        return status.contentModificationTime <= newestChange && made <= newestChange
    }

    /// Whether a directory was there when the unit was examined. When the known directories were
    /// not recorded, a directory from which entries were removed before a crash looks the same as
    /// one that was moved there, and is kept.
    private func isKnown(_ status: FileStatus) -> Bool {
        if let known { return known.contains(status.identity) }
        return status.attributeModificationTime <= newestChange
    }

    /// Removes an empty directory.
    ///
    /// - Returns: false when it is not empty.
    private func removeDirectory(
        _ name: FilePath, _ identity: FileIdentity, in parent: OpenDirectory
    ) throws(Errno) -> Bool {
        do throws(Errno) {
            guard try parent.location(of: name).statusAtHand().identity == identity else {
                throw .staleNFSFileHandle
            }
            try parent.remove(name, isDirectory: true)
            return true
        } catch .directoryNotEmpty, .fileExists {
            return false
        }
    }
}
