import ResourceValues
import SystemCalls
import SystemPackage

/// Moves restored items into a target by descriptors.
///
/// Existing items are replaced by name and never written to, so that symbolic links are not
/// followed and other hard links keep their content. Existing directories receive the contents of
/// the restored ones.
///
/// A killed process leaves each item either at its old or at its new location.
struct TreeMerger {
    /// Items that are not in the target as they should be.
    private(set) var failures: [RestoreFailure] = []
    /// The exact paths of the damaged items that were met, by their printed names.
    private(set) var damagedPaths: [[UInt8]: [UInt8]] = [:]
    private let overwrites: Bool
    /// The printed names of items that are not intact: all but directories stay where they are.
    private let damaged: Set<[UInt8]>
    /// The printed names of the directories that contain what stays.
    private let entered: Set<[UInt8]>
    /// An item that stays where it is, with everything below it.
    private let omitted: [UInt8]?
    /// Whether an existing directory gets the metadata of the restored one.
    private let isWanted: ([UInt8]) -> Bool
    private let isCancelled: () -> Bool
    private let metadata = MetadataRestorer()

    /// The walk of the restored tree. The context of a directory is the metadata that the existing
    /// one gets; nil when it keeps its own.
    private typealias Walk = DirectoryWalk<ItemMetadata?>

    init(
        overwrites: Bool, damaged: Set<[UInt8]> = [], omitted: [UInt8]? = nil,
        isWanted: @escaping ([UInt8]) -> Bool, isCancelled: @escaping () -> Bool
    ) {
        self.overwrites = overwrites
        self.damaged = damaged
        self.omitted = omitted
        let staying = damaged.union(omitted.map { [$0] } ?? [])
        entered = Set(staying.lazy.flatMap { ancestors(of: $0).map { Array($0) } })
        self.isWanted = isWanted
        self.isCancelled = isCancelled
    }

    /// Moves all entries of a directory.
    ///
    /// - Throws: the errno of opening one of the two, or of returning to a directory of the tree;
    ///   `CancellationError`. Errors of single items are in ``failures``.
    mutating func merge(_ tree: FilePath, into target: FilePath) throws {
        let source = try OpenDirectory(at: tree, flags: .readOnly)
        var target = DirectoryCursor(try OpenDirectory(at: target, flags: .readOnly))
        var walk = Walk(in: source, names: try source.names().inByteOrder(), context: nil)
        // Whether the target's directory was moved meanwhile, so that the cursor is not in it.
        var isLost = false
        while let step = try walk.next() {
            if isCancelled() { throw CancellationError() }
            switch step {
            case .entry(let name) where isLost:
                failures.append(
                    RestoreFailure(
                        path: walk.path(of: name),
                        cause: .missing("its directory was moved meanwhile")))
            case .entry(let name):
                do {
                    try move(name, in: &walk, to: &target)
                } catch let error as Errno {
                    failures.append(
                        RestoreFailure(
                            path: walk.path(of: name), cause: .missing(sentence(error))))
                }
            case .end(_, let restored):
                if let item = restored, isLost {
                    failures.append(
                        RestoreFailure(
                            path: item.path, cause: .different("it was moved meanwhile")))
                } else if let item = restored {
                    metadata.apply(item, to: target.directory.descriptor)
                }
                do throws(Errno) {
                    try target.ascend()
                    isLost = false
                } catch {
                    isLost = true
                }
            }
        }
        failures += metadata.failures
    }

    /// Moves an entry to its name in the target, or goes down into both directories.
    private mutating func move(
        _ name: FilePath, in walk: inout Walk, to cursor: inout DirectoryCursor
    ) throws {
        let (source, target, path) = (walk.directory, cursor.directory, walk.path(of: name))
        if path == omitted { return }
        let printed = damaged.isEmpty ? path : printedName(path)
        let item = SharedDescriptor(try openReference(name, in: source.descriptor))
        let status = try item.descriptor.status()
        if damaged.contains(printed) {
            damagedPaths[printed] = path
            if status.kind != .directory { return }
        }
        if status.kind == .directory, entered.contains(printed) {
            let isNew = try Self.makeMissingDirectory(name, in: target)
            return try enter(name, in: &walk, and: &cursor, status, isNew: isNew)
        }
        let replaces = overwrites && status.kind != .directory
        let moved = Result { () throws(Errno) in
            try Self.place(name, item, source, target, status, replaces: replaces)
        }
        guard case .failure(let error) = moved else { return }
        switch (error, status.kind) {
        case (.fileExists, .directory):
            try enter(name, in: &walk, and: &cursor, status)
        case (.improperLink, .directory):
            // Another filesystem is mounted there.
            let isNew = try Self.makeMissingDirectory(name, in: target)
            try enter(name, in: &walk, and: &cursor, status, isNew: isNew)
        case (.improperLink, _):
            try copy(name, item.descriptor, source, target, status, path, replaces: replaces)
        default: throw error
        }
    }

    /// Creates a directory.
    ///
    /// - Returns: false when something has the name.
    private static func makeMissingDirectory(
        _ name: FilePath, in directory: OpenDirectory
    ) throws(Errno) -> Bool {
        do throws(Errno) {
            try makeDirectory(name, in: directory.descriptor, permissions: 0o700)
        } catch .fileExists {
            return false
        }
        try removeInheritedAccessLists(from: directory.openDirectory(name))
        return true
    }

    /// Moves an item to its name in the target.
    ///
    /// - Throws: `EEXIST` when something has the name and must not be replaced.
    private static func place(
        _ name: FilePath, _ item: SharedDescriptor, _ source: OpenDirectory,
        _ target: OpenDirectory,
        _ status: FileStatus, replaces: Bool
    ) throws(Errno) {
        guard status.kind == .directory else {
            return try rename(name, source, target, replaces ? .replacing : .absent)
        }
        // Changing a directory's parent writes to the directory.
        try whileWritable(item.descriptor, status) { () throws(Errno) in
            try rename(name, source, target, .absent)
        }
    }

    private static func rename(
        _ name: FilePath, _ source: OpenDirectory, _ target: OpenDirectory,
        _ condition: NamingCondition
    ) throws(Errno) {
        do throws(Errno) {
            try renameItem(
                name, in: source.descriptor, to: name, in: target.descriptor, condition)
        } catch .invalidArgument where condition == .absent {
            // The filesystem does not support this condition.
            do throws(Errno) {
                _ = try target.status(of: name)
            } catch .noSuchFileOrDirectory {
                return try renameItem(
                    name, in: source.descriptor, to: name, in: target.descriptor, .replacing)
            }
            throw .fileExists
        }
    }

    private func enter(
        _ name: FilePath, in walk: inout Walk, and target: inout DirectoryCursor,
        _ status: FileStatus, isNew: Bool = false
    ) throws(Errno) {
        let (source, path) = (walk.directory, walk.path(of: name))
        let existing = try target.directory.openBeneath(
            name, flags: .readOnly, crossingMounts: true)
        if effectiveUser() != 0, status.permissions & 0o700 != 0o700 {
            // Its entries are moved out of it, and it is removed with the stage.
            let reference = OwnedDescriptor(try openReference(name, in: source.descriptor))
            try setPermissions(0o700, of: reference.descriptor)
        }
        let restored = try source.openDirectory(name)
        let names = try restored.names().inByteOrder()
        let takesMetadata = isNew || isWanted(path)
        walk.enter(
            restored, names: names,
            context: takesMetadata ? ItemMetadata(path, status, of: restored) : nil)
        target.descend(into: existing, named: name)
    }

    private func copyFile(
        _ name: FilePath, _ item: FileDescriptor, _ source: OpenDirectory,
        _ target: OpenDirectory, _ recorded: ItemMetadata, replaces: Bool
    ) throws {
        if effectiveUser() != 0 { try setPermissions(0o600, of: item) }
        let content = SharedDescriptor(try openForReading(name, in: source.descriptor))
        var file = try StagedFile(in: target.descriptor, permissions: 0o600)
        try removeInheritedAccessLists(from: file.descriptor)
        try copyContent(from: content.descriptor, size: recorded.status.size, to: file.descriptor)
        metadata.apply(recorded, to: file.descriptor)
        if replaces {
            try file.replace(name)
        } else {
            try file.publish(as: name)
        }
    }

    /// Copies an item to another filesystem.
    private mutating func copy(
        _ name: FilePath, _ item: FileDescriptor, _ source: OpenDirectory,
        _ target: OpenDirectory,
        _ status: FileStatus, _ path: [UInt8], replaces: Bool
    ) throws {
        let recorded = ItemMetadata(path, status, of: source.location(of: name))
        if status.linkCount > 1, status.kind != .directory {
            failures.append(
                RestoreFailure(
                    path: path,
                    cause: .different(
                        "it is on another filesystem, and is not the same file as its other names"))
            )
        }
        if status.kind == .regularFile {
            return try copyFile(name, item, source, target, recorded, replaces: replaces)
        }
        if replaces {
            do throws(Errno) {
                try target.remove(name)
            } catch .noSuchFileOrDirectory {
                // Nothing is in the way.
            }
        }
        if status.kind == .symbolicLink {
            try makeSymbolicLink(
                name, in: target.descriptor, to: try symbolicLinkTarget(item))
        } else {
            try makeSpecialFile(
                name, in: target.descriptor, status.kind, permissions: 0o600,
                device: status.representedDevice)
        }
        let handle = SharedDescriptor(try openReference(name, in: target.descriptor))
        let made = try handle.descriptor.status()
        // Another item may have the name meanwhile, and must not get this one's metadata.
        guard made.kind == status.kind, made.linkCount == 1, made.owner == effectiveUser() else {
            throw Errno.fileExists
        }
        if status.kind != .symbolicLink { try removeInheritedAccessLists(from: handle.descriptor) }
        metadata.apply(recorded, to: handle.descriptor)
    }
}

/// Returns why an item could not get its name in a target, in words.
private func sentence(_ error: Errno) -> String {
    switch error {
    case .fileExists: "something else has its name"
    case .isDirectory: "a directory has its name"
    case .tooManySymbolicLinkLevels, .notDirectory:
        "something that is not a directory is in its way"
    default: "\(error)"
    }
}
