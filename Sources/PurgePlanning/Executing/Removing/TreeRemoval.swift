import SystemCalls
import SystemPackage

/// Removes the content of a directory, except items added or changed after the directory was
/// examined.
struct TreeRemoval: DepthFirstVisitor {
    /// The latest inode change time when the unit was examined: anything newer was changed or moved
    /// there since.
    private let newestChange: FileTime
    /// The directories and the files with several hard links that were examined; nil after a crash,
    /// when there were too many for the journal.
    private let known: Set<FileIdentity>?
    /// Files of which this removal removed a hard link, which changed their inodes.
    private var ownChanges: Set<FileIdentity> = []
    /// Whether an item was kept because it is newer than the examination.
    private(set) var leftSomething = false

    private init(newestChange: FileTime, known: Set<FileIdentity>?) {
        self.newestChange = newestChange
        self.known = known
    }

    /// Removes a directory with everything that was in it when it was examined.
    ///
    /// - Returns: false when the directory remains, with what was added since.
    static func remove(
        _ name: [UInt8], _ identity: FileIdentity, in parent: FileDescriptor, path: [UInt8],
        newestChange: FileTime, known: Set<FileIdentity>?
    ) throws(FileError) -> Bool {
        do throws(KeepReason) {
            var removal = TreeRemoval(newestChange: newestChange, known: known)
            let item = WalkedItem(name: name, directory: parent, directoryPath: path)
            let top = SharedDescriptor(
                try reaching { () throws(Errno) in
                    try openDirectoryToRead(FilePath(bytes: name), in: parent)
                })
            let found = try reaching { () throws(Errno) in try top.descriptor.status().identity }
            guard found == identity else { throw .changed }
            // A filesystem may list entries incompletely while others are removed, so the rest is
            // read again.
            for _ in 0..<4 {
                try DepthFirstWalk.visit(top.descriptor, path: path, context: (), &removal)
                if try removal.removeDirectory(item, identity) { return true }
                if removal.leftSomething { return false }
            }
            return false
        } catch {
            let path = FilePath(bytes: path)
            guard case .unreadable(let errno) = error else {
                throw FileError(
                    code: .changed, message: "it was not removed completely: \(error.sentence)",
                    path: path)
            }
            throw FileError.changingItem(errno, path)
        }
    }

    mutating func visitItem(_ item: WalkedItem, in context: Void) throws(KeepReason) {
        let status = try item.status()
        guard
            status.attributeModificationTime <= newestChange
                || ownChanges.contains(status.identity) || isOnlyUnlinked(status)
        else {
            leftSomething = true
            return
        }
        try reaching { () throws(Errno) in
            try removeItem(FilePath(bytes: item.name), in: item.directory, isDirectory: false)
        }
        if status.linkCount > 1 { ownChanges.insert(status.identity) }
    }

    mutating func enter(
        _ directory: FileDescriptor, _ item: WalkedItem, in context: Void
    ) throws(KeepReason) -> Void? {
        let status = try reaching { () throws(Errno) in try directory.status() }
        guard isKnown(status) else {
            leftSomething = true
            return nil
        }
        return ()
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

    mutating func leave(_ item: WalkedItem, _ identity: FileIdentity) throws(KeepReason) {
        _ = try removeDirectory(item, identity)
    }

    /// Removes an empty directory.
    ///
    /// - Returns: false when it is not empty.
    private func removeDirectory(
        _ item: WalkedItem, _ identity: FileIdentity
    ) throws(KeepReason) -> Bool {
        guard try item.status().identity == identity else { throw .changed }
        do throws(Errno) {
            try removeItem(FilePath(bytes: item.name), in: item.directory, isDirectory: true)
            return true
        } catch .directoryNotEmpty, .fileExists {
            return false
        } catch {
            throw KeepReason(reaching: error)
        }
    }
}
