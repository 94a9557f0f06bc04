import EffectiveValues
import SystemCalls
import SystemPackage

extension Examination {
    /// Removes the name of a unit that is not a directory, after checking that it still is what was
    /// examined. A file cannot be unlinked by descriptor: between the check and the call, a user
    /// who can write the directory could still replace the file.
    func removeFile() throws {
        try requireAtRest()
        try calls(on: FilePath(bytes: unit.path)) { () throws(Errno) in
            try removeItem(FilePath(bytes: place.name), in: place.directory, isDirectory: false)
        }
    }

    /// Throws unless the name still leads to the file that was examined, unchanged, and no other
    /// process tried to open it since.
    func requireAtRest() throws(KeepReason) {
        // A file is deleted only together with its companions, so one that has any is kept.
        if !unit.isDirectory, CompanionFiles.exist(besides: place.name, place.status) {
            throw .companion
        }
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
}

/// Deletes directory units: each is moved aside under another name, examined again, and only then
/// removed. A record is in the journal before each step.
///
/// Several units are deleted together. With each of them everything happens that happens with one
/// alone, in the same order: a look for what uses it, a record that it is put aside, its other name,
/// the second examination and the second look for what uses it, now under that name, a record that
/// it is being deleted, the removal, the synchronization of its directory, the end of the record.
/// They share only the looks at all processes, the writes of the journal, and the synchronization of
/// a directory. Such a step ends for all of them before the next one begins for any.
///
/// So at any moment the journal names each of them that does not have its own name, and names it as
/// being deleted only after it passed the second examination. After a crash each record is settled
/// by itself. A unit that does not pass gets its name back, and the others go on.
struct DirectoryRemoval {
    let examiner: UnitExaminer
    let journal: PurgeJournal
    /// Called before each unit but the first one is removed: when it returns true, those left get
    /// their names back.
    let shouldStop: () -> Bool
    let didRemoveFile: (Int64) -> Void

    /// A unit that passed the first look.
    private final class Leaving {
        let index: Int
        let first: Examination
        /// The first examination, and later the second.
        var last: Examination
        var record: AsideRecord
        var failure: (any Error)?

        init(_ index: Int, _ first: Examination, _ record: AsideRecord) {
            self.index = index
            self.first = first
            last = first
            self.record = record
        }

        /// The record that it is being deleted.
        var deletion: AsideRecord {
            var record = record
            record.state = .deleting
            record.knownInodes = Set(last.contents.directories.map(\.inode))
            return record
        }
    }

    /// Deletes directories that were examined.
    ///
    /// - Returns: for each of them nil when it was deleted, ``KeepReason`` when it was not touched or
    ///   has its name back, `FileError` when a call failed, and `CancellationError` when ``shouldStop``
    ///   kept it.
    func remove(_ units: [Examination]) -> [(any Error)?] {
        var failures: [(any Error)?] = examiner.reasonsToKeep(
            units.map { ($0.contents, $0.unit.path) })
        var leaving: [Leaving] = []
        for (index, unit) in units.enumerated() where failures[index] == nil {
            do {
                leaving.append(Leaving(index, unit, try record(of: unit)))
            } catch {
                failures[index] = error
            }
        }
        do throws(FileError) {
            try recordAside(leaving)
        } catch {
            if leaving.count > 1, error.isForWantOfRoom || error.code == .tooLarge {
                // There may be room for one at a time.
                for unit in leaving {
                    failures[unit.index] =
                        shouldStop() ? CancellationError() : remove([unit.first])[0]
                }
                return failures
            }
            for unit in leaving { unit.failure = error }
        }
        putAside(leaving)
        lookAgain(leaving)
        recordDeletion(leaving)
        removeContents(leaving)
        forget(leaving.filter { $0.failure == nil })
        for unit in leaving { failures[unit.index] = unit.failure }
        return failures
    }

    /// Calls `step` with each unit that did not fail before.
    private func each(_ units: [Leaving], _ step: (Leaving) throws -> Void) {
        for unit in units where unit.failure == nil {
            do { try step(unit) } catch { unit.failure = error }
        }
    }

    /// As ``each(_:_:)`` for units that were put aside: one whose step fails gets its name back.
    private func eachAside(_ units: [Leaving], _ step: (Leaving) throws -> Void) {
        each(units) { unit in
            do {
                try step(unit)
            } catch {
                try putBack(unit)
                throw error
            }
        }
    }

    /// Writes the journal for units, all of which fail if that does.
    private func write(_ units: [Leaving], _ step: ([AsideRecord]) throws(FileError) -> Void) {
        if units.isEmpty { return }
        do throws(FileError) {
            try step(units.map(\.record))
        } catch {
            for unit in units { unit.failure = error }
        }
    }

    private func record(of unit: Examination) throws(KeepReason) -> AsideRecord {
        let filesystems = journal.filesystems
        return AsideRecord(
            state: .aside, identity: filesystems.identity(of: try unit.status()),
            parent: filesystems.identity(of: unit.place.parentStatus),
            parentPath: unit.place.parentPath, name: unit.place.name,
            asideName: AsideName.make(), newestChange: unit.contents.newestChange)
    }

    /// Records that the units are put aside. Several are recorded only when there will be room for
    /// their inodes, too: without them, less can be finished after a crash.
    private func recordAside(_ units: [Leaving]) throws(FileError) {
        if units.isEmpty { return }
        if units.count > 1, !journal.hasRoom(for: units.map(\.deletion)) {
            throw FileError(code: .tooLarge, message: "there is no room for so many records")
        }
        try journal.store(units.map(\.record))
    }

    private func putAside(_ units: [Leaving]) {
        let before = units.filter { $0.failure == nil }
        each(before) { unit in
            try rename(unit, from: unit.record.name, to: unit.record.asideName)
        }
        write(before.filter { $0.failure != nil }, journal.remove)
    }

    private func lookAgain(_ units: [Leaving]) {
        eachAside(units) { unit in
            let second = try examiner.examine(
                unit.record.path, named: unit.record.asideName, since: unit.first)
            guard second.isUnchanged(since: unit.first) else { throw KeepReason.changed }
            unit.last = second
        }
        let looked = units.filter { $0.failure == nil }
        if looked.isEmpty { return }
        let reasons = examiner.reasonsToKeep(looked.map { ($0.last.contents, $0.record.asidePath) })
        for (unit, reason) in zip(looked, reasons) {
            eachAside([unit]) { _ in if let reason { throw reason } }
        }
    }

    private func recordDeletion(_ units: [Leaving]) {
        let passed = units.filter { $0.failure == nil }
        if passed.isEmpty { return }
        for unit in passed { unit.record = unit.deletion }
        do throws(FileError) {
            try journal.store(passed.map(\.record))
        } catch {
            eachAside(passed) { _ in throw error }
        }
    }

    private func removeContents(_ units: [Leaving]) {
        let passed = units.filter { $0.failure == nil }
        var unlinked: Set<FileIdentity> = []
        for (index, unit) in passed.enumerated() {
            if index > 0, shouldStop() { return giveBack(Array(passed[index...])) }
            do { try removeContent(unit, &unlinked) } catch { unit.failure = error }
        }
    }

    /// Gives units their names back because the run is stopped, after recording that they are not to be
    /// deleted.
    private func giveBack(_ units: [Leaving]) {
        for unit in units {
            unit.record.state = .aside
            unit.record.knownInodes = nil
        }
        // If that fails they stay aside, and the next run deletes them.
        write(units, journal.store)
        eachAside(units) { _ in throw CancellationError() }
    }

    private func removeContent(
        _ unit: Leaving, _ unlinked: inout Set<FileIdentity>
    ) throws {
        let record = unit.record
        let removed = try TreeRemoval.remove(
            record.asideName, unit.first.unit.identity, in: unit.last.place.parent,
            path: record.asidePath, newestChange: record.newestChange,
            known: unit.last.contents.directories, unlinked: &unlinked, didRemoveFile: didRemoveFile
        )
        // It never gets its name back, because it would look whole. Its record remains, so that each run
        // reports it.
        guard removed else {
            throw FileError(
                code: .changed,
                message: "something came into the directory while it was removed, and was left "
                    + "there",
                advice: "look through it, then delete it or give it another name",
                path: FilePath(bytes: record.asidePath))
        }
    }

    private func putBack(_ unit: Leaving) throws(FileError) {
        do throws(FileError) {
            try rename(unit, from: unit.record.asideName, to: unit.record.name)
        } catch {
            // The record remains, so that the next run tries again.
            var failure = error
            failure.advice = "it was put aside and its name cannot be restored: rename it by hand"
            throw failure
        }
        try unit.first.place.synchronizeParent()
        try journal.remove([unit.record])
    }

    private func rename(
        _ unit: Leaving, from old: [UInt8], to new: [UInt8]
    ) throws(FileError) {
        let place = unit.first.place
        try calls(on: FilePath(bytes: place.parentPath + [UInt8(ascii: "/")] + old)) {
            () throws(Errno) in
            try renameItem(
                FilePath(bytes: old), in: place.directory, to: FilePath(bytes: new),
                in: place.directory, .absent)
        }
    }

    /// Ends the records of units that were removed, after synchronizing each of their directories
    /// once.
    private func forget(_ units: [Leaving]) {
        var synchronized: [FileIdentity: FileError?] = [:]
        each(units) { unit in
            let directory = unit.first.place.parentStatus.identity
            if synchronized[directory] == nil {
                synchronized[directory] = .some(nil)
                do throws(FileError) {
                    try unit.first.place.synchronizeParent()
                } catch {
                    synchronized[directory] = .some(error)
                }
            }
            if case .some(.some(let error)) = synchronized[directory] { throw error }
        }
        write(units.filter { $0.failure == nil }, journal.remove)
    }
}

/// Removes the content of a directory, except items added or changed after the directory was
/// examined.
struct TreeRemoval {
    /// The latest inode change time when the unit was examined: anything newer was changed or moved
    /// there since.
    private let newestChange: FileTime
    /// The directories that were examined; nil after a crash, when there were too many for the journal.
    private let known: Set<FileIdentity>?
    /// Files of which this process removed a hard link, which changed their inodes. After a crash they
    /// cannot be told from files that were written since, and the names that are left stay.
    private var unlinked: Set<FileIdentity>
    private let didRemoveFile: (Int64) -> Void

    /// Removes a directory with everything that was in it when it was examined.
    ///
    /// - Parameter unlinked: the files of which this process removed a hard link since the examination, to
    ///   which it adds others.
    /// - Returns: false when the directory remains, with what was added since.
    static func remove(
        _ name: [UInt8], _ identity: FileIdentity, in parent: OpenDirectory, path: [UInt8],
        newestChange: FileTime, known: Set<FileIdentity>?, unlinked: inout Set<FileIdentity>,
        didRemoveFile: @escaping (Int64) -> Void = { _ in }
    ) throws(FileError) -> Bool {
        do {
            var removal = TreeRemoval(
                newestChange: newestChange, known: known, unlinked: unlinked, didRemoveFile)
            defer { unlinked = removal.unlinked }
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

    private init(
        newestChange: FileTime, known: Set<FileIdentity>?, unlinked: Set<FileIdentity>,
        _ didRemoveFile: @escaping (Int64) -> Void
    ) {
        self.didRemoveFile = didRemoveFile
        self.newestChange = newestChange
        self.known = known
        self.unlinked = unlinked
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
                try makeWritable(opened, now)
                let names = try opened.names()
                walk.enter(opened, names: names, context: now.identity)
            }
        }
        return isRemoved
    }

    /// Lets the purging user remove the entries of a directory that was fetched as a read-only one.
    private func makeWritable(_ directory: OpenDirectory, _ status: FileStatus) throws(Errno) {
        let user = effectiveUser()
        guard user != 0, status.owner == user, status.permissions & 0o300 != 0o300 else { return }
        try changeMode(status.permissions | 0o300, of: directory.descriptor)
    }

    /// Removes the name of an item that is not a directory, unless it is newer than the
    /// examination.
    private mutating func removeFile(
        _ name: FilePath, _ status: FileStatus, in directory: OpenDirectory
    ) throws {
        guard
            status.attributeModificationTime <= newestChange
                || unlinked.contains(status.identity)
        else { return }
        try directory.remove(name)
        if status.linkCount > 1 {
            unlinked.insert(status.identity)
        } else {
            didRemoveFile(status.allocatedSize)
        }
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
