import SystemCalls
import SystemPackage

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
        do throws(KeepReason) {
            var removal = TreeRemoval(newestChange: newestChange, known: known)
            return try removal.remove(FilePath(bytes: name), identity, in: parent)
        } catch {
            let path = FilePath(bytes: path)
            guard case .unreadable(let errno) = error else {
                throw FileError(
                    code: .changed, message: "it was not removed completely: \(error.sentence)",
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
    ) throws(KeepReason) -> Bool {
        var isRemoved = false
        var walk = DirectoryWalk(in: parent, names: EntryNames([top.bytes]), context: identity)
        while let step = try reaching({ () throws(Errno) in try walk.next() }) {
            let directory = walk.directory
            switch step {
            case .end(let name, let identity):
                isRemoved = try removeDirectory(name, identity, in: directory)
            case .entry(let name):
                let status = try reaching { () throws(Errno) in
                    try directory.location(of: name).statusAtHand()
                }
                if walk.depth == 0, status.identity != identity { throw .changed }
                guard status.kind == .directory else {
                    try removeFile(name, status, in: directory)
                    continue
                }
                let opened = try reaching { () throws(Errno) in try directory.openToRead(name) }
                let now = try reaching { () throws(Errno) in try opened.status() }
                guard now.identity == status.identity else { throw .changed }
                guard walk.depth == 0 || isKnown(now) else { continue }
                let names = try reaching { () throws(Errno) in try opened.names() }
                walk.enter(opened, names: names, context: now.identity)
            }
        }
        return isRemoved
    }

    /// Removes the name of an item that is not a directory, unless it is newer than the
    /// examination.
    private mutating func removeFile(
        _ name: FilePath, _ status: FileStatus, in directory: OpenDirectory
    ) throws(KeepReason) {
        guard
            status.attributeModificationTime <= newestChange
                || ownChanges.contains(status.identity) || isOnlyUnlinked(status)
        else { return }
        try reaching { () throws(Errno) in try directory.remove(name) }
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
    ) throws(KeepReason) -> Bool {
        do throws(Errno) {
            guard try parent.location(of: name).statusAtHand().identity == identity else {
                throw .staleNFSFileHandle
            }
            try parent.remove(name, isDirectory: true)
            return true
        } catch .directoryNotEmpty, .fileExists {
            return false
        } catch {
            throw KeepReason(reaching: error)
        }
    }
}
