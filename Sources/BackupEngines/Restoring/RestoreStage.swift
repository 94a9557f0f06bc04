import ResourceValues
import SystemCalls
import SystemPackage

/// A new directory below a restore's target, for this process's user only, that a program restores
/// into. Then a ``TreeMerger`` gives what is in it its names in the target.
///
/// No link in the target, and nobody who can write there, leads the program elsewhere: its path begins
/// with a descriptor of this process. The directory is as far down on the way to what is restored as
/// the target has directories, so it is on the filesystem that the items go to, and needs no
/// permission above them.
///
/// It is locked while it is in use. One that is not was left by a process that was killed.
final class RestoreStage: Sendable {
    /// Directories of this user on the way that were left by processes that were killed.
    let leftovers: [FilePath]
    private let parent: SharedDescriptor
    private let name: FilePath
    private let directory: SharedDescriptor

    private static let namePrefix = ".resval-restore-"
    private static let tree: FilePath = "tree"

    /// Makes the directory, and the target where that is missing.
    ///
    /// - Parameter wanted: the absolute paths in the snapshot of what is restored.
    /// - Throws: ``BackupError``.
    init(in target: FilePath, for wanted: [[UInt8]]) throws(BackupError) {
        do throws(Errno) {
            try makeDirectories(at: target, permissions: 0o700)
            let places = try Self.places(in: target, for: wanted)
            leftovers = places.flatMap { Self.leftovers(in: $0.directory.descriptor, $0.path) }
            (parent, name, directory) = try Self.make(in: places.map(\.directory))
        } catch {
            throw backupError(error, path: target)
        }
    }

    /// The directory to restore into, for this process and those it starts.
    var path: FilePath {
        FilePath("/proc/\(processNumber())/fd/\(directory.descriptor.rawValue)").pushing(Self.tree)
    }

    /// Removes what is left in the directory, and the directory. The one it is in keeps its time of
    /// modification, which may have been restored.
    func remove() {
        // What stays is named by the next restore, and holds nothing that the snapshot does not.
        let modified = try? parent.descriptor.status().contentModificationTime
        try? removeTree(Self.tree, in: directory.descriptor)
        try? removeItem(name, in: parent.descriptor, isDirectory: true)
        if let modified { try? setModificationTime(modified, of: parent.descriptor) }
    }

    /// Whether an entry of a directory is such a directory by its name.
    static func isName(_ name: [UInt8]) -> Bool { name.starts(with: namePrefix.utf8) }

    /// The target, and the directories in it that all that is wanted is below.
    private static func places(
        in target: FilePath, for wanted: [[UInt8]]
    ) throws(Errno) -> [(path: FilePath, directory: SharedDescriptor)] {
        let flags: FileDescriptor.OpenOptions = [.readOnly, .directory]
        var places = [
            (path: target, directory: SharedDescriptor(try openFile(target, flags: flags)))
        ]
        for name in commonNames(wanted) {
            guard let last = places.last,
                let next = try? openBeneath(
                    FilePath(bytes: name), in: last.directory.descriptor, flags: flags,
                    crossingMounts: true)
            else { break }
            places.append((last.path.pushing(FilePath(bytes: name)), SharedDescriptor(next)))
        }
        return places
    }

    private static func commonNames(_ paths: [[UInt8]]) -> [[UInt8]] {
        let all = paths.map { RelativePath(absolute: $0)?.names ?? [] }
        guard var common = all.first else { return [] }
        for names in all {
            let shared = zip(common, names).prefix { $0 == $1 }.count
            common.removeLast(common.count - shared)
        }
        return common
    }

    /// Makes the directory in the last of the places that allows it.
    private static func make(
        in places: [SharedDescriptor]
    ) throws(Errno) -> (SharedDescriptor, FilePath, SharedDescriptor) {
        var failure = Errno.permissionDenied
        for parent in places.reversed() {
            let number = String(UInt64.random(in: .min ... .max), radix: 36)
            let name = FilePath(namePrefix + number)
            do throws(Errno) {
                try makeDirectory(name, in: parent.descriptor, permissions: 0o700)
                return (parent, name, try open(name, in: parent.descriptor))
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// Opens the directory that was made.
    ///
    /// - Throws: `EEXIST` when another user has put a directory in its place.
    private static func open(
        _ name: FilePath, in parent: FileDescriptor
    ) throws(Errno) -> SharedDescriptor {
        let directory = SharedDescriptor(try openDirectory(name, in: parent))
        let status = try directory.descriptor.status()
        let isOwn = status.owner == effectiveUser() && status.permissions & 0o077 == 0
        // Other filesystems may have owners and permissions of their own.
        let keepsOwners = localFilesystems.contains(
            try filesystemStatus(of: directory.descriptor).type)
        guard isOwn || !keepsOwners else { throw .fileExists }
        // Without locks there, another restore says that this one left something.
        _ = try? takeLock(on: directory.descriptor)
        try makeDirectory(tree, in: directory.descriptor, permissions: 0o700)
        return directory
    }

    private static func leftovers(in directory: FileDescriptor, _ path: FilePath) -> [FilePath] {
        let names = (try? names(in: directory)) ?? []
        return names.filter { isName($0) && isLeftover(FilePath(bytes: $0), in: directory) }
            .map { path.pushing(FilePath(bytes: $0)) }
    }

    private static func isLeftover(_ name: FilePath, in parent: FileDescriptor) -> Bool {
        guard let directory = (try? openDirectory(name, in: parent)).map({ SharedDescriptor($0) }),
            let status = try? directory.descriptor.status(), status.owner == effectiveUser()
        else { return false }
        return (try? takeLock(on: directory.descriptor)) ?? true
    }
}
