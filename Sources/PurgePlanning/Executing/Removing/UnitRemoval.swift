import SystemCalls
import SystemPackage

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
        if !unit.isDirectory { try requireNoCompanions() }
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

    /// A file is deleted only together with its companions, so one that has any is kept.
    private func requireNoCompanions() throws(KeepReason) {
        for name in CompanionFiles.names(of: place.name) {
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
    /// Files of which this process removed a hard link, which changed their inodes.
    private var unlinked: Set<FileIdentity>

    /// Removes a directory with everything that was in it when it was examined.
    ///
    /// - Parameter unlinked: the files of which this process removed a hard link since the examination, to
    ///   which it adds others.
    /// - Returns: false when the directory remains, with what was added since.
    static func remove(
        _ name: [UInt8], _ identity: FileIdentity, in parent: OpenDirectory, path: [UInt8],
        newestChange: FileTime, known: Set<FileIdentity>?, unlinked: inout Set<FileIdentity>
    ) throws(FileError) -> Bool {
        do {
            var removal = TreeRemoval(newestChange: newestChange, known: known, unlinked: unlinked)
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
        newestChange: FileTime, known: Set<FileIdentity>?, unlinked: Set<FileIdentity>
    ) {
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
                || unlinked.contains(status.identity) || isOnlyUnlinked(status)
        else { return }
        try directory.remove(name)
        if status.linkCount > 1 { unlinked.insert(status.identity) }
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
