import SystemCalls
import SystemPackage

/// Removes what is in a directory, except what came there after it was looked at.
struct TreeRemoval: DepthFirstVisitor {
    /// When any inode was changed last: what is newer was changed, or moved there, since.
    private let newestChange: FileTime
    /// The directories and the files with several names that were looked at; nil after a crash, when they
    /// were too many to be noted.
    private let known: Set<FileIdentity>?
    /// Files with several names that this removed one of, which changed their inodes.
    private var ownChanges: Set<FileIdentity> = []
    /// Whether anything was left that came there since.
    private(set) var leftSomething = false

    private init(newestChange: FileTime, known: Set<FileIdentity>?) {
        self.newestChange = newestChange
        self.known = known
    }

    /// Removes a directory with all that was in it when it was looked at.
    ///
    /// - Returns: false when it stays, with what came there since.
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
            // A filesystem may show less than all while names go: what is left is read once more.
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
                    code: .changed, message: "it was not removed to its end: \(error.sentence)",
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

    /// Whether a file was there when the unit was looked at, and nothing but its names changed since: one
    /// went before a crash. A new file with the number of one that is gone was made since.
    private func isOnlyUnlinked(_ status: FileStatus) -> Bool {
        guard let known, known.contains(status.identity), let made = status.creationTime else {
            return false
        }
        return status.contentModificationTime <= newestChange && made <= newestChange
    }

    /// Whether a directory was there when the unit was looked at. Where the directories are not known,
    /// one from which something was removed before a crash cannot be told from one that was moved there.
    private func isKnown(_ status: FileStatus) -> Bool {
        if let known { return known.contains(status.identity) }
        return status.attributeModificationTime <= newestChange
    }

    mutating func leave(_ item: WalkedItem, _ identity: FileIdentity) throws(KeepReason) {
        _ = try removeDirectory(item, identity)
    }

    /// - Returns: false when something is left in it.
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
