import EffectiveValues
import SystemCalls
import SystemPackage

/// Deals with what a purge that was cut off left: only with what the journal names, only when
/// filesystem, inode and time of birth are what it says, and only what the rules do not protect now.
struct Leftovers {
    let journal: PurgeJournal
    /// The rules that hold on the filesystem of a path.
    let rules: (FilePath) throws(FileError) -> PurgeRules

    /// Finishes or undoes each record of the journal.
    func settle(_ event: (PurgeEvent) -> Void) {
        for record in journal.records {
            do throws(FileError) {
                guard let state = try settle(record) else { continue }
                let isBack = state == .restored || state == .finished
                event(.leftover(path: isBack ? record.path : record.asidePath, state))
            } catch {
                event(.leftover(path: record.asidePath, .failed(error)))
            }
        }
    }

    /// - Returns: what became of it; nil when there was nothing to do.
    private func settle(_ record: AsideRecord) throws(FileError) -> LeftoverState? {
        // Somebody moved the directory that holds it, or the volume is not there.
        guard let place = try place(of: record) else { return .leftAlone }
        let identity: FileIdentity
        do throws(Errno) {
            guard let found = try place.status(of: record.asideName) else {
                try synchronizeDirectory(place.directory)
                try forget(record)
                return nil
            }
            guard journal.filesystems.isIdentity(record.identity, of: found),
                found.kind == .directory
            else {
                try forget(record)
                return .leftAlone
            }
            identity = found.identity
            switch record.state {
            case .aside: return try restore(record, place)
            case .deleting: break
            }
        } catch {
            throw FileError.changingItem(error, FilePath(bytes: record.asidePath))
        }
        guard try mayGo(record, identity) else { return .leftAlone }
        let removed = try TreeRemoval.remove(
            record.asideName, identity, in: place.directory, path: record.asidePath,
            newestChange: record.newestChange,
            known: record.knownInodes.map { inodes in
                Set(inodes.map { FileIdentity(device: identity.device, inode: $0) })
            })
        // What has begun to go would look whole under its own name. The record stays for the next run.
        guard removed else { return .partlyRemoved }
        do throws(Errno) {
            try synchronizeDirectory(place.directory)
            try forget(record)
            return .finished
        } catch {
            throw FileError.changingItem(error, FilePath(bytes: record.asidePath))
        }
    }

    /// Whether neither the directory nor one above it is protected, or on the way to what is.
    private func mayGo(
        _ record: AsideRecord, _ identity: FileIdentity
    ) throws(FileError) -> Bool {
        let places = try rules(FilePath(bytes: record.asidePath)).places
        return !places.pathsToProtected.contains(identity)
            && !places.isProtected(FilePath(bytes: record.asidePath))
    }

    /// Gives a directory that was only put aside its name back.
    private func restore(
        _ record: AsideRecord, _ place: UnitPlace
    ) throws(Errno) -> LeftoverState {
        do throws(Errno) {
            try renameItem(
                FilePath(bytes: record.asideName), in: place.directory,
                to: FilePath(bytes: record.name), in: place.directory, .absent)
        } catch .fileExists {
            return .leftAlone
        }
        try synchronizeDirectory(place.directory)
        try forget(record)
        return .restored
    }

    private func forget(_ record: AsideRecord) throws(Errno) {
        do throws(FileError) {
            try journal.remove(record)
        } catch {
            throw error.errno ?? .ioError
        }
    }

    private func place(of record: AsideRecord) throws(FileError) -> UnitPlace? {
        do throws(Errno) {
            guard let parent = try openPlainDirectory(record.parentPath) else { return nil }
            let status = try parent.descriptor.status()
            guard journal.filesystems.isIdentity(record.parent, of: status) else { return nil }
            return UnitPlace(
                name: record.name, parentPath: record.parentPath, parent: parent,
                parentStatus: status)
        } catch {
            throw FileError.opening(error, FilePath(bytes: record.parentPath))
        }
    }
}

/// Reports what is named like something put aside and is not in the journal.
func reportStrangers(
    in directories: Set<[UInt8]>, knownTo records: [AsideRecord], _ event: (PurgeEvent) -> Void
) {
    let known = Set(records.map(\.asidePath))
    for path in directories.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        do throws(Errno) {
            guard let directory = try openPlainDirectory(path) else { continue }
            let opened = SharedDescriptor(try openDirectoryToRead(".", in: directory.descriptor))
            try forEachEntry(inOpen: opened.descriptor) { name, _ in
                let whole = path + [UInt8(ascii: "/")] + name
                if AsideName.matches(name), !known.contains(whole) {
                    event(.leftover(path: whole, .leftAlone))
                }
                return true
            }
        } catch {
            // What cannot be listed shows when its units are looked at.
            continue
        }
    }
}

/// Opens a directory by a path without any link on it; nil when it is not there any more.
private func openPlainDirectory(_ path: [UInt8]) throws(Errno) -> SharedDescriptor? {
    do throws(FileError) {
        // No purge works where a server answers, which may never do so.
        if try MountTable.current().isRemote(FilePath(bytes: path)) { return nil }
    } catch {
        throw error.errno ?? .ioError
    }
    var directory = SharedDescriptor(try openDirectoryReference("/"))
    do throws(Errno) {
        for name in path.isEmpty ? [] : RelativePath(absolute: path)?.names ?? [[]] {
            directory = SharedDescriptor(
                try openFile(
                    in: directory.descriptor, FilePath(bytes: name),
                    flags: [.reference, .directory, .noFollow]))
        }
        return directory
    } catch .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels {
        return nil
    }
}
