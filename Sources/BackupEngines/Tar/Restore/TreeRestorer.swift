import ResourceValues
import SystemCalls
import SystemPackage

/// Restores the items of an archive below a directory.
///
/// The archive is trusted only for content: no path leads out of the target, and nothing that
/// exists is replaced unless that was requested.
final class TreeRestorer {
    /// Items that are not as they are in the archive.
    private(set) var failures: [RestoreFailure] = []
    /// What is wrong with the archive as a whole, in words.
    private(set) var complaints: [String] = []
    /// The number of items that were restored, or should have been.
    private(set) var count = 0
    private let overwrites: Bool
    private let target: FilePath
    private let chain: DirectoryChain
    private let metadata: MetadataRestorer
    private let counter: StepCounter
    private let isCancelled: () -> Bool
    /// The restored files with several hard links, by the path of the first name.
    private var firstNames: [[UInt8]: FileIdentity] = [:]
    /// The failures of files with several hard links, by the path of the first name.
    private var firstFailures: [[UInt8]: RestoreFailure.Cause] = [:]
    /// Why nothing more is read from the archive; nil while it can be read.
    private var damage: ArchiveFailure?
    /// Items with extended attributes from the archive that could not be compared with those that
    /// were stored.
    private var unchecked: [[UInt8]] = []

    /// Creates a restorer.
    ///
    /// - Parameters:
    ///   - target: an existing directory.
    ///   - counter: counts the items, and the bytes of their content.
    /// - Throws: the errno of opening the target.
    init(
        _ target: FilePath, overwrites: Bool, counter: StepCounter,
        isCancelled: @escaping () -> Bool
    ) throws(Errno) {
        self.target = target
        self.overwrites = overwrites
        self.counter = counter
        self.isCancelled = isCancelled
        let metadata = MetadataRestorer()
        self.metadata = metadata
        chain = DirectoryChain(
            try OpenDirectory(at: target, flags: .readOnly), open: openOrMakeDirectory,
            finish: metadata.finish)
    }

    /// Restores what is wanted, and reads the rest.
    ///
    /// Each item in the archive is compared with the manifest, which is verified by itself. An item
    /// that differs from what was stored, or cannot be read, is a failure.
    ///
    /// - Parameter reader: computes the digest of what it reads.
    /// - Throws: ``BackupError``: `damaged` for the manifest, `noSpace`; `CancellationError`.
    func restore(
        _ reader: ArchiveReader, _ manifest: OpenManifest, _ paths: RestorePaths
    ) throws {
        defer {
            chain.leaveAll()
            failures += metadata.failures
        }
        while let item = try manifest.nextItem() {
            if isCancelled() { throw CancellationError() }
            let entry = nextEntry(reader)
            guard let path = paths.targetPath(of: item) else { continue }
            count += 1
            counter.add(files: 1)
            guard let entry, entry.path == item.archivePath else {
                fail(path, .missing(damage?.message ?? "the archive has something else there"))
                continue
            }
            do {
                try restore(item, entry, at: path, from: reader, paths)
            } catch let failure as ArchiveFailure {
                damage = failure
                fail(path, .missing(failure.message))
            }
        }
        checkWhole(reader, manifest.reader.end)
    }

    private func nextEntry(_ reader: ArchiveReader) -> ArchiveMetadata? {
        guard damage == nil else { return nil }
        do throws(ArchiveFailure) {
            let entry = try reader.next()
            if entry == nil { damage = ArchiveFailure("the archive ends before it") }
            return entry
        } catch {
            damage = error
            return nil
        }
    }

    /// Compares the archive as a whole with what was written. Even if it differs, each restored
    /// item was compared by itself, except for attributes in snapshots without a digest of them.
    private func checkWhole(_ reader: ArchiveReader, _ end: ManifestEnd?) {
        do throws(ArchiveFailure) {
            let (size, digest) = try reader.finish()
            if size == end?.archiveSize && digest == end?.archiveDigest { return }
        } catch {
            // It cannot be read to its end, so it is not what was written.
        }
        complaints.append(
            "the archive of the snapshot is not the one that was written: items that are not named "
                + "were compared one by one, and are as they were stored")
        for path in unchecked {
            fail(path, .unchecked("the manifest has no digest of its extended attributes"))
        }
    }

    /// Returns the extended attributes to store on an item: none when they differ from those that
    /// were stored.
    private func attributes(
        of item: ManifestItem, _ entry: ArchiveMetadata, _ path: [UInt8]
    ) -> [ExtendedAttribute] {
        switch item.check(entry.attributes) {
        case .asStored: return entry.attributes
        case .unchecked:
            unchecked.append(path)
            return entry.attributes
        case .different:
            fail(path, .attributes("those in the archive are not the ones it was stored with"))
            return []
        }
    }

    private func restore(
        _ item: ManifestItem, _ entry: ArchiveMetadata, at path: [UInt8],
        from reader: ArchiveReader, _ paths: RestorePaths
    ) throws {
        // The target itself is not an item.
        if path == [UInt8(ascii: "/")] { return }
        guard let names = RelativePath(absolute: path)?.names[...], let name = names.last else {
            return fail(path, .missing("its path could lead out of the target"))
        }
        do {
            if item.kind == .directory {
                let attributes = attributes(of: item, entry, path)
                try chain.enter(names).pending = (item, attributes)
                return
            }
            let parent = try chain.enter(names.dropLast())
            let location = parent.directory.location(of: FilePath(bytes: name))
            if let first = item.hardLink {
                let firstTarget = paths.targetPath(ofFirst: first)
                try link(location, to: firstTarget)
                if let cause = firstFailures[firstTarget] { fail(path, cause) }
                return
            }
            let count = failures.count
            let restored =
                item.kind == .regularFile
                ? try write(item, entry, location, path, from: reader)
                : try make(item, entry, location, path)
            guard paths.hasOtherNames(path) else { return }
            firstNames[path] = restored
            if failures.count > count { firstFailures[path] = failures.last?.cause }
        } catch Errno.noSpace, Errno.diskQuotaExceeded {
            throw BackupError(
                .noSpace, "there is no space left at the target",
                advice: "make room, and restore again with --overwrite", path: target)
        } catch let error as Errno {
            fail(path, .missing(sentence(error)))
        }
    }

    private func write(
        _ item: ManifestItem, _ entry: ArchiveMetadata, _ location: DirectoryEntryLocation,
        _ path: [UInt8], from reader: ArchiveReader
    ) throws -> FileIdentity? {
        guard entry.size == item.size else {
            fail(path, .missing("the archive and its manifest name different sizes"))
            return nil
        }
        var file = try StagedFile(in: location.directory, permissions: 0o600)
        var digest = item.newDigest(isCancelled: isCancelled)
        var holes = item.size
        while let piece = try reader.nextPiece() {
            if isCancelled() { throw CancellationError() }
            try writeFile(file.descriptor, piece.bytes, at: piece.offset)
            try digest.update(piece.bytes, at: piece.offset)
            counter.add(bytes: Int64(piece.bytes.count))
            holes -= Int64(piece.bytes.count)
        }
        counter.add(bytes: max(0, holes))
        try setSize(item.size, of: file.descriptor)
        let isWhole = try digest.finish(size: item.size) == item.contentDigest
        if !isWhole {
            fail(path, .different("its content does not have the SHA-256 it was stored with"))
        } else if let damage = item.damage {
            fail(path, .different(damage.sentence))
        }
        metadata.apply(item, attributes(of: item, entry, path), toFile: file.descriptor, path)
        if overwrites && isWhole {
            try file.replace(location.name)
        } else {
            try file.publish(as: location.name)
        }
        return try file.descriptor.status().identity
    }

    private func make(
        _ item: ManifestItem, _ entry: ArchiveMetadata, _ location: DirectoryEntryLocation,
        _ path: [UInt8]
    ) throws(Errno) -> FileIdentity {
        try removeExisting(location)
        switch item.kind {
        case .symbolicLink:
            try makeSymbolicLink(
                location.name, in: location.directory,
                to: FilePath(bytes: item.linkTarget ?? []))
        case .fifo, .characterDevice, .blockDevice:
            try makeSpecialFile(
                location.name, in: location.directory, item.kind, permissions: 0o600,
                device: item.device ?? entry.device)
        default: throw .notSupported
        }
        // Another item may have the name meanwhile, and must not get this one's metadata.
        let handle = OwnedDescriptor(try openReference(to: location))
        let status = try handle.descriptor.status()
        guard status.kind == item.kind, status.linkCount == 1,
            try item.kind == .symbolicLink
                ? symbolicLinkTarget(handle.descriptor).bytes == item.linkTarget ?? []
                : status.owner == effectiveUser() && status.permissions & 0o077 == 0
        else { throw .fileExists }
        metadata.apply(item, attributes(of: item, entry, path), toHandle: handle.descriptor, path)
        return status.identity
    }

    private func link(_ location: DirectoryEntryLocation, to first: [UInt8]) throws(Errno) {
        guard let identity = firstNames[first] else { throw .noSuchFileOrDirectory }
        let existing = try TargetTree(target).openItem(first)
        // Only a file that this restore created gets another hard link.
        guard try existing.descriptor.status().identity == identity else { throw .fileExists }
        try removeExisting(location)
        try nameFile(existing.descriptor, location.name, in: location.directory)
    }

    /// Removes what has the name, if requested; a directory stays.
    private func removeExisting(_ location: DirectoryEntryLocation) throws(Errno) {
        guard overwrites else { return }
        do throws(Errno) {
            try removeItem(location.name, in: location.directory, isDirectory: false)
        } catch .noSuchFileOrDirectory {
            // Nothing is in the way.
        }
    }

    private func fail(_ path: [UInt8], _ cause: RestoreFailure.Cause) {
        failures.append(RestoreFailure(path: path, cause: cause))
    }
}

/// Opens a directory for reading, and creates it if it is missing.
private func openOrMakeDirectory(
    _ name: FilePath, in parent: OpenDirectory
) throws(Errno) -> OpenDirectory {
    do throws(Errno) {
        // Accessible to no other user until its own permissions are set.
        try makeDirectory(name, in: parent.descriptor, permissions: 0o700)
    } catch .fileExists {
        // A directory, or something else, which makes opening it fail.
    }
    // Filesystems mounted below the target are restored into.
    return try parent.openBeneath(name, flags: .readOnly, crossingMounts: true)
}

/// Returns why an item could not get its name in a target, in words.
func sentence(_ error: Errno) -> String {
    switch error {
    case .fileExists: "something else has its name"
    case .isDirectory: "a directory has its name"
    case .tooManySymbolicLinkLevels, .notDirectory:
        "something that is not a directory is in its way"
    default: "\(error)"
    }
}

extension ManifestItem.Damage {
    fileprivate var sentence: String {
        switch self {
        case .changed: "it changed while it was stored, so it may be parts of two versions"
        case .unreadable: "it could not be read to its end when it was stored"
        }
    }
}
