import FileTree
import ResourceValues
import SystemCalls
import SystemPackage

/// A new directory below a restore's target, accessible to this process's user only, that a program
/// restores into. A ``TreeMerger`` then moves its contents to their names in the target.
///
/// Neither a symbolic link in the target nor another user who can write there can redirect the
/// program: its path begins with a descriptor of this process. It is created in the deepest
/// existing directory of the target that contains all restored items, so that it is on the
/// filesystem that the items belong to, and needs no permission above them.
///
/// It is locked while it is in use. One without a lock was left by a process that was killed.
package final class RestoreStage: Sendable {
    /// What killed processes of this user left between the target and the restored items.
    let leftovers: [FilePath]
    /// The target, which another user can move away meanwhile.
    let target: OpenDirectory
    private let parent: OpenDirectory
    /// The parent's modification time before this directory was made, and after.
    private let parentTimes: (before: FileTime, after: FileTime)
    private let name: FilePath
    private let directory: OpenDirectory

    private static let namePrefix = ".resval-restore-"
    private static let tree: FilePath = "tree"
    private static let kept: FilePath = "kept"

    /// Creates the directory, and the target if it is missing.
    ///
    /// - Parameter wanted: the absolute paths of the restored items in the snapshot.
    init(in target: FilePath, for wanted: [[UInt8]]) throws(BackupError) {
        do {
            if try !itemExists(target) {
                try makeDirectories(target.removingLastComponent())
                // What another user puts there meanwhile is not taken for it.
                try makeDirectory(target, in: .workingDirectory, permissions: 0o700)
            }
            let opened = try OpenDirectory(at: target)
            self.target = opened
            let candidates = Self.candidates(in: (target, opened), for: wanted)
            leftovers = candidates.flatMap { Self.leftovers(in: $0.directory, $0.path) }
            (parent, name, directory, parentTimes) = try Self.make(
                in: candidates.map(\.directory))
            keepsAttributes = try Self.exclude(directory)
            keepsPermissions = Self.keepsPermissions(directory)
            try directory.setTimes(access: nil, modification: Self.exactTime)
            keptTime = try directory.status().contentModificationTime
        } catch {
            throw backupError(error, path: target)
        }
    }

    /// The directory to restore into, for this process and those it starts.
    var path: FilePath { location.pushing(Self.tree) }

    /// A directory for the content of evicted files, which ``take(_:to:_:)`` moves to ``path``.
    var keptPath: FilePath { location.pushing(Self.kept) }

    private var location: FilePath {
        FilePath("/proc/\(processNumber())/fd/\(directory.descriptor.rawValue)")
    }

    var availableBytes: Int64 {
        (try? filesystemStatus(ofOpen: directory.descriptor))?.availableBytes ?? 0
    }

    /// Moves a file from ``keptPath`` to its path below ``path``, and sets its time.
    ///
    /// - Parameters:
    ///   - stored: its absolute path in the snapshot that keeps its content.
    ///   - wanted: its absolute path in the snapshot that is restored.
    /// - Throws: the errno of a step; `ENOENT` when restic did not restore it.
    func take(_ stored: [UInt8], to wanted: [UInt8], _ modified: FileTime) throws(Errno) {
        let (from, name) = try directory.openDirectory(Self.kept).parent(of: stored)
        guard let names = RelativePath(absolute: wanted)?.names, let newName = names.last else {
            throw .invalidArgument
        }
        var parent = try directory.openDirectory(Self.tree, flags: .reference)
        for name in names.dropLast().map({ FilePath(bytes: $0) }) {
            do throws(Errno) {
                try makeDirectory(name, in: parent.descriptor, permissions: 0o700)
            } catch .fileExists {
                // An earlier file's.
            }
            parent = try parent.openDirectory(name, flags: .reference)
        }
        try renameItem(
            name, in: from.descriptor, to: FilePath(bytes: newName), in: parent.descriptor, .absent)
        let file = OwnedDescriptor(
            try openReference(FilePath(bytes: newName), in: parent.descriptor))
        try file.descriptor.setTimes(access: nil, modification: modified)
    }

    func removeKept() { try? removeTree(Self.kept, in: directory) }

    /// Whether the filesystem stores extended attributes: restic does not tell where it does not.
    let keepsAttributes: Bool

    /// Whether the filesystem stores permissions; some do not, without an error.
    let keepsPermissions: Bool

    /// What the filesystem stores of a time with nine digits after the second.
    let keptTime: FileTime
    static let exactTime = FileTime(seconds: 1, nanoseconds: 999_999_999)

    /// Sets the times that restic cannot set, and waits until everything is on the disk: restic does
    /// not, and a file that is moved in place of another must be whole after a power failure.
    ///
    /// - Parameter remote: items with such a time.
    /// - Returns: those whose time the filesystem cannot store.
    func synchronize(remote: [SnapshotEntry]) throws -> [RestoreFailure] {
        var failures: [RestoreFailure] = []
        if !remote.isEmpty {
            let tree = try OpenDirectory(at: path)
            for entry in remote {
                // What restic did not restore is a failure anyway.
                guard let (parent, name) = try? tree.parent(of: entry.path),
                    let item = try? openReference(name, in: parent.descriptor)
                else { continue }
                let file = OwnedDescriptor(item)
                try file.descriptor.setTimes(access: nil, modification: entry.modified)
                let failure = timeFailure(entry.path, entry.modified, on: file.descriptor)
                if let failure { failures.append(failure) }
            }
        }
        try synchronizeFilesystem(of: directory.descriptor)
        return failures
    }

    /// Takes the set-ID bits from an item whose owner or group is not that of the snapshot: it would run with
    /// the rights of another user.
    ///
    /// - Returns: whether it had such bits, and another owner or group.
    /// - Throws: `ENOENT` when restic did not restore it.
    func removeSetID(of item: SnapshotEntry) throws(Errno) -> Bool {
        let (parent, name) = try OpenDirectory(at: path).parent(of: item.path)
        let file = OwnedDescriptor(try openReference(name, in: parent.descriptor))
        let status = try file.descriptor.status()
        guard status.permissions & setIDs != 0,
            status.owner != item.owner || status.group != item.group
        else { return false }
        try setPermissions(status.permissions & ~setIDs, of: file.descriptor)
        return true
    }

    /// Returns the paths in the snapshot of all names of the files that have one of these names, as they
    /// are printed: what damages a file damages it under each hard link.
    ///
    /// - Throws: ``FileError`` when a directory cannot be read, so that names may be missing.
    func otherNames(of damaged: Set<[UInt8]>) throws -> [[UInt8]] {
        if damaged.isEmpty { return [] }
        let links = Monitor<[FileIdentity: [[UInt8]]]>([:])
        try forEachItem { entry, path throws(FileError) in
            guard entry.kind == .regularFile else { return }
            let status = try entry.fileStatus()
            guard status.linkCount > 1 else { return }
            links.withLock { $0[status.identity, default: []].append(path) }
        }
        return links.withLock { $0 }.values
            .filter { $0.contains { damaged.contains(printedName($0)) } }
            .flatMap { $0 }.filter { !damaged.contains(printedName($0)) }
    }

    /// Returns the number of items whose names the filesystem took for those of others: restic writes one
    /// into the other without a word.
    ///
    /// - Parameters:
    ///   - count: the number of items that were to be restored.
    ///   - isWanted: whether the item with a path in the snapshot is among them.
    ///   - damage: what is wrong with items, by their printed names. Those may be missing.
    func mergedCount(
        of count: Int, isWanted: @escaping @Sendable ([UInt8]) -> Bool, damage: [[UInt8]: String]
    ) throws -> Int {
        let found = Monitor((items: 0, damaged: 0))
        do throws(FileError) {
            try forEachItem { _, path throws(FileError) in
                guard isWanted(path) else { return }
                let isDamaged = damage[path] != nil
                found.withLock {
                    $0.items += 1
                    $0.damaged += isDamaged ? 1 : 0
                }
            }
        } catch {
            // An ordinary user may not read each directory that was restored.
            guard (try? directory.status(of: "TREE")) != nil else { return 0 }
        }
        return found.withLock { max(0, count - $0.items - (damage.count - $0.damaged)) }
    }

    /// - Throws: ``FileError`` when an item cannot be inspected, or a directory cannot be read.
    private func forEachItem(
        _ body: @escaping @Sendable (borrowing TreeEntry, [UInt8]) throws(FileError) -> Void
    ) throws(FileError) {
        let failure = Monitor<FileError?>(nil)
        let root = path
        try TreeScanner(followsRoots: false).scan([TreeRoot(root)]) { _ in
            ItemVisitor(root: root, failure: failure, body: body)
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Removes the directory with its remaining contents. Its parent keeps its modification time,
    /// which may have been restored, and gets that from before where nothing else changed it.
    func remove() {
        // What cannot be removed is reported by the next restore, and contains only items of the
        // snapshot.
        let modified = try? parent.status().contentModificationTime
        try? removeTree(Self.tree, in: directory)
        removeKept()
        try? parent.remove(name, isDirectory: true)
        guard let modified else { return }
        let time = modified == parentTimes.after ? parentTimes.before : modified
        try? parent.setTimes(access: nil, modification: time)
    }

    /// Returns a name that cannot be predicted, for the directory or for one item.
    static func makeName() -> String {
        namePrefix + String(UInt64.random(in: .min ... .max), radix: 36)
    }

    package static func isName(_ name: [UInt8]) -> Bool { name.starts(with: namePrefix.utf8) }

    /// Returns the target, and the existing directories below it that contain everything wanted.
    private static func candidates(
        in target: (path: FilePath, directory: OpenDirectory), for wanted: [[UInt8]]
    ) -> [(path: FilePath, directory: OpenDirectory)] {
        var candidates = [target]
        for name in commonNames(of: wanted) {
            guard let last = candidates.last,
                let next = try? last.directory.openBeneath(
                    FilePath(bytes: name), flags: .reference, crossingMounts: true)
            else { break }
            candidates.append((last.path.pushing(FilePath(bytes: name)), next))
        }
        return candidates
    }

    /// Creates the directory in the deepest of the parents that allows it.
    private static func make(in candidates: [OpenDirectory]) throws(Errno) -> (
        parent: OpenDirectory, name: FilePath, directory: OpenDirectory,
        times: (before: FileTime, after: FileTime)
    ) {
        var failure = Errno.permissionDenied
        for parent in candidates.reversed() {
            let name = FilePath(makeName())
            do throws(Errno) {
                let before = try parent.status().contentModificationTime
                try makeDirectory(name, in: parent.descriptor, permissions: 0o700)
                let directory = try open(name, in: parent)
                let after = try parent.status().contentModificationTime
                return (parent, name, directory, (before, after))
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// - Throws: `EEXIST` when another user has put a directory in its place.
    private static func open(
        _ name: FilePath, in parent: OpenDirectory
    ) throws(Errno) -> OpenDirectory {
        let directory = try parent.openDirectory(name)
        let status = try directory.status()
        let isOwn = status.owner == effectiveUser() && status.permissions & 0o077 == 0
        // Other filesystems may impose their own owners and permissions.
        let keepsOwners = localFilesystems.contains(
            try filesystemStatus(of: directory.descriptor).type)
        guard isOwn || !keepsOwners else { throw .fileExists }
        try removeInheritedRights(from: directory.descriptor)
        // Without locks on this filesystem, another restore reports this directory as left behind.
        _ = try? takeLock(on: directory.descriptor)
        try makeDirectory(tree, in: directory.descriptor, permissions: 0o700)
        return directory
    }

    /// Excludes the directory from backups, in case this process is killed.
    ///
    /// - Returns: false where the filesystem stores no attributes.
    private static func exclude(_ directory: OpenDirectory) throws(Errno) -> Bool {
        do throws(FileError) {
            try directory.setValue(true, for: .isExcludedFromBackup)
            return true
        } catch  where error.code == .unsupportedFilesystem {
            return false
        } catch {
            throw error.errno ?? .ioError
        }
    }

    private static func keepsPermissions(_ directory: OpenDirectory) -> Bool {
        let trials: [UInt16] = [0o500, 0o700]
        return trials.allSatisfy { permissions in
            do throws(Errno) {
                try setPermissions(permissions, of: directory.descriptor)
                return try directory.status().permissions == permissions
            } catch {
                return false
            }
        }
    }

    /// Returns what killed processes of this user left in a directory: stages, and copies of links and special
    /// files that did not get their names.
    static func leftovers(in directory: OpenDirectory, _ path: FilePath) -> [FilePath] {
        guard let names = try? directory.openDirectory(".").names() else { return [] }
        return names.filter { isName($0.bytes) && isLeftover($0, in: directory) }
            .map { path.pushing($0) }
    }

    private static func isLeftover(_ name: FilePath, in parent: OpenDirectory) -> Bool {
        let directory = try? parent.openDirectory(name)
        guard let status = try? directory?.status() ?? parent.status(of: name),
            status.owner == effectiveUser()
        else { return false }
        guard let directory else { return status.kind != .directory }
        return (try? takeLock(on: directory.descriptor)) ?? true
    }
}

/// Returns the names that lead from `/` to the deepest item that absolute paths are, or are below.
func commonNames(of paths: [[UInt8]]) -> [[UInt8]] {
    let all = paths.map { RelativePath(absolute: $0)?.names ?? [] }
    guard var common = all.first else { return [] }
    for names in all {
        let shared = zip(common, names).prefix { $0 == $1 }.count
        common.removeLast(common.count - shared)
    }
    return common
}

private struct ItemVisitor: TreeVisitor {
    let root: FilePath
    let failure: Monitor<FileError?>
    let body: @Sendable (borrowing TreeEntry, [UInt8]) throws(FileError) -> Void

    mutating func visit(_ entry: borrowing TreeEntry, in context: Void) -> Descent<Void> {
        do throws(FileError) {
            if entry.depth > 0 {
                try body(entry, Array(entry.path.bytes.dropFirst(root.bytes.count)))
            }
        } catch {
            cannotRead(error)
        }
        return entry.kind == .directory ? .descend(()) : .skip
    }

    mutating func cannotRead(_ error: FileError) { failure.withLock { $0 = error } }

    mutating func finish() {}
}

/// Removes what a new item inherits from the directory in which it was made, access lists and a group:
/// nothing gets rights from where it is put.
func removeInheritedRights(from item: FileDescriptor) throws(Errno) {
    do throws(FileError) {
        for name in try item.extendedAttributeNames()
        where name.bytes.starts(with: "system.posix_acl_".utf8) {
            try item.removeExtendedAttribute(named: name)
        }
    } catch {
        throw error.errno ?? .ioError
    }
    let status = try item.status()
    guard status.group != effectiveGroup() || status.permissions & setGroupID != 0 else { return }
    do throws(Errno) {
        try setOwner(status.owner, group: effectiveGroup(), of: item)
        try setPermissions(status.permissions & 0o777, of: item)
    } catch .notPermitted, .notSupported {
        // A filesystem with owners of its own.
    }
}

/// The types of local filesystems: ext2 to ext4, xfs, btrfs, f2fs, zfs, bcachefs, tmpfs and
/// overlayfs (`linux/magic.h`).
private let localFilesystems: Set<UInt32> = [
    0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E, 0x0102_1994,
    0x794C_7630,
]

extension OpenDirectory {
    /// Opens the directory of an item of a snapshot below this one, which holds a restored tree. No
    /// symbolic link that was put there is followed.
    ///
    /// - Parameter path: the absolute path in the snapshot, not `/` itself.
    /// - Returns: also the item's name in it.
    /// - Throws: `EINVAL` for a path that could lead outside, and the errno of opening.
    func parent(of path: [UInt8]) throws(Errno) -> (directory: OpenDirectory, name: FilePath) {
        guard let names = RelativePath(absolute: path)?.names, let name = names.last else {
            throw .invalidArgument
        }
        return (try openDirectory(along: names.dropLast()), FilePath(bytes: name))
    }
}

package func itemExists(
    _ location: borrowing some FileLocation & ~Copyable
) throws(Errno) -> Bool {
    do throws(Errno) {
        _ = try location.status()
        return true
    } catch .noSuchFileOrDirectory, .notDirectory {
        return false
    }
}

/// Whether a path leads to an empty directory, or to nothing.
///
/// - Parameter isIgnored: whether a name does not count.
/// - Throws: ``BackupError`` when it is something else, or cannot be read.
package func isEmptyOrAbsent(
    _ path: FilePath, but isIgnored: ([UInt8]) -> Bool = { _ in false }
) throws(BackupError) -> Bool {
    var isEmpty = true
    do throws(Errno) {
        try forEachName(in: path) { name in
            isEmpty = isIgnored(name)
            return isEmpty
        }
    } catch .noSuchFileOrDirectory {
        return true
    } catch {
        throw BackupError(.other, "cannot be read as a directory: \(error)", path: path)
    }
    return isEmpty
}
