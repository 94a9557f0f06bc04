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
    private let overwrites: Bool
    /// Items that are not intact, and replace nothing.
    private let damaged: Set<[UInt8]>
    /// Whether an existing directory gets the metadata of the restored one.
    private let isWanted: ([UInt8]) -> Bool
    private let isCancelled: () -> Bool
    private let metadata = MetadataRestorer()

    init(
        overwrites: Bool, damaged: Set<[UInt8]>, isWanted: @escaping ([UInt8]) -> Bool,
        isCancelled: @escaping () -> Bool
    ) {
        self.overwrites = overwrites
        self.damaged = damaged
        self.isWanted = isWanted
        self.isCancelled = isCancelled
    }

    /// Moves all entries of a directory.
    ///
    /// - Throws: the errno of opening one of the two; `CancellationError`. Errors of single items
    ///   are in ``failures``.
    mutating func merge(_ tree: FilePath, into target: FilePath) throws {
        let flags: FileDescriptor.OpenOptions = [.readOnly, .directory]
        let source = SharedDescriptor(try openFile(tree, flags: flags))
        let destination = SharedDescriptor(try openFile(target, flags: flags))
        try mergeEntries(source, into: destination, [])
        failures += metadata.failures
    }

    /// Moves the entries of a directory.
    ///
    /// - Parameter path: the path of the directory in the snapshot; empty for `/`.
    private mutating func mergeEntries(
        _ source: SharedDescriptor, into target: SharedDescriptor, _ path: [UInt8]
    ) throws {
        let names = try names(in: source.descriptor)
            .sorted { $0.lexicographicallyPrecedes($1) }
        for name in names {
            if isCancelled() { throw CancellationError() }
            let itemPath = path + [UInt8(ascii: "/")] + name
            do {
                try move(FilePath(bytes: name), source, target, itemPath)
            } catch let error as Errno {
                failures.append(
                    RestoreFailure(path: itemPath, cause: .missing(sentence(error))))
            }
        }
    }

    private mutating func move(
        _ name: FilePath, _ source: SharedDescriptor, _ target: SharedDescriptor, _ path: [UInt8]
    ) throws {
        let location = DirectoryEntryLocation(directory: source.descriptor, name: name)
        let item = SharedDescriptor(try openReference(to: location))
        let status = try item.descriptor.status()
        let replaces = overwrites && status.kind != .directory && !damaged.contains(path)
        let moved = Result { () throws(Errno) in
            try Self.place(name, item, source, target, status, replaces: replaces)
        }
        guard case .failure(let error) = moved else { return }
        switch (error, status.kind) {
        case (.fileExists, .directory):
            try mergeDirectory(name, source, target, status, path)
        case (.improperLink, .directory):
            // Another filesystem is mounted there.
            let isNew = try Self.makeMissingDirectory(name, in: target)
            try mergeDirectory(name, source, target, status, path, isNew: isNew)
        case (.improperLink, _):
            try copy(name, item.descriptor, source, target, status, path, replaces: replaces)
        default: throw error
        }
    }

    /// Creates a directory.
    ///
    /// - Returns: false when something has the name.
    private static func makeMissingDirectory(
        _ name: FilePath, in directory: SharedDescriptor
    ) throws(Errno) -> Bool {
        do throws(Errno) {
            try makeDirectory(name, in: directory.descriptor, permissions: 0o700)
            return true
        } catch .fileExists {
            return false
        }
    }

    /// Moves an item to its name in the target.
    ///
    /// - Throws: `EEXIST` when something has the name and must not be replaced.
    private static func place(
        _ name: FilePath, _ item: SharedDescriptor, _ source: SharedDescriptor,
        _ target: SharedDescriptor,
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
        _ name: FilePath, _ source: SharedDescriptor, _ target: SharedDescriptor,
        _ condition: NamingCondition
    ) throws(Errno) {
        do throws(Errno) {
            try renameItem(
                name, in: source.descriptor, to: name, in: target.descriptor, condition)
        } catch .invalidArgument where condition == .absent {
            // The filesystem does not support this condition.
            let place = DirectoryEntryLocation(directory: target.descriptor, name: name)
            do throws(Errno) {
                _ = try place.status()
            } catch .noSuchFileOrDirectory {
                return try renameItem(
                    name, in: source.descriptor, to: name, in: target.descriptor, .replacing)
            }
            throw .fileExists
        }
    }

    private mutating func mergeDirectory(
        _ name: FilePath, _ source: SharedDescriptor, _ target: SharedDescriptor,
        _ status: FileStatus,
        _ path: [UInt8], isNew: Bool = false
    ) throws {
        let flags: FileDescriptor.OpenOptions = [.readOnly, .directory]
        let existing = SharedDescriptor(
            try openBeneath(name, in: target.descriptor, flags: flags, crossingMounts: true))
        if effectiveUser() != 0, status.permissions & 0o700 != 0o700 {
            // Its entries are moved out of it, and it is removed with the stage.
            let reference = SharedDescriptor(
                try openReference(
                    to: DirectoryEntryLocation(directory: source.descriptor, name: name)))
            try setPermissions(0o700, of: reference.descriptor)
        }
        let restored = SharedDescriptor(try openDirectory(name, in: source.descriptor))
        let attributes = StoredAttributes(of: restored.descriptor).attributes
        try mergeEntries(restored, into: existing, path)
        guard isNew || isWanted(path) else { return }
        metadata.apply(
            ManifestItem(path, status), attributes, toFile: existing.descriptor, path)
    }

    private func copyFile(
        _ name: FilePath, _ item: FileDescriptor, _ source: SharedDescriptor,
        _ target: SharedDescriptor,
        _ told: ManifestItem, _ attributes: [ExtendedAttribute], replaces: Bool
    ) throws {
        if effectiveUser() != 0 { try setPermissions(0o600, of: item) }
        let content = SharedDescriptor(try openForReading(name, in: source.descriptor))
        var file = try StagedFile(in: target.descriptor, permissions: 0o600)
        try copyContent(from: content.descriptor, size: told.size, to: file.descriptor)
        metadata.apply(told, attributes, toFile: file.descriptor, told.path)
        if replaces {
            try file.replace(name)
        } else {
            try file.publish(as: name)
        }
    }

    /// Copies an item to another filesystem.
    private mutating func copy(
        _ name: FilePath, _ item: FileDescriptor, _ source: SharedDescriptor,
        _ target: SharedDescriptor,
        _ status: FileStatus, _ path: [UInt8], replaces: Bool
    ) throws {
        let told = ManifestItem(path, status)
        let attributes = StoredAttributes(
            of: DirectoryEntryLocation(directory: source.descriptor, name: name)
        ).attributes
        if status.linkCount > 1, status.kind != .directory {
            failures.append(
                RestoreFailure(
                    path: path,
                    cause: .different(
                        "it is on another filesystem, and is not the same file as its other names"))
            )
        }
        if status.kind == .regularFile {
            return try copyFile(name, item, source, target, told, attributes, replaces: replaces)
        }
        if replaces {
            do throws(Errno) {
                try removeItem(name, in: target.descriptor, isDirectory: false)
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
        let handle = SharedDescriptor(
            try openReference(
                to: DirectoryEntryLocation(directory: target.descriptor, name: name)))
        let made = try handle.descriptor.status()
        // Another item may have the name meanwhile, and must not get this one's metadata.
        guard made.kind == status.kind, made.linkCount == 1, made.owner == effectiveUser() else {
            throw Errno.fileExists
        }
        metadata.apply(told, attributes, toHandle: handle.descriptor, path)
    }
}
