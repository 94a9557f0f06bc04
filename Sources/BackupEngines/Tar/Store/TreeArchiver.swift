import BackupPlanning
import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// Writes what a plan stores into an archive and its manifest, walking by descriptor.
///
/// The plan decides: what it excludes is not stored, nor is what it does not contain because it was
/// created after the plan was built. Items come in the order of ``pathPrecedes(_:_:)``. Memory
/// contains no more of the tree than the names in the directories above the current item, and the
/// paths of files with several hard links.
final class TreeArchiver {
    /// The counts for the manifest's last line.
    private(set) var end = ManifestEnd()
    /// Items that are not in the archive as they should be.
    private(set) var shortfalls: [Shortfall] = []
    /// The number of regular files stored; each hard link counts.
    private(set) var fileCount: Int64 = 0
    /// The sizes of the regular files stored, in bytes; each hard link counts.
    private(set) var fileBytes: Int64 = 0
    private let plan: BackupPlan
    private var planned: PlanManifest
    private let exclusions: [[UInt8]: ExcludedItem]
    private let writer: ArchiveWriter
    private let content: ArchiveContent
    private let manifest: ManifestWriter
    private let progress: StoreProgress
    private let owners = OwnerNames()
    private var firstNames: [FileIdentity: ManifestItem] = [:]

    /// Creates an archiver.
    ///
    /// - Parameter planned: the plan's manifest.
    init(
        _ plan: BackupPlan, _ planned: PlanManifest, to writer: ArchiveWriter,
        _ manifest: ManifestWriter, _ progress: StoreProgress
    ) {
        self.plan = plan
        self.planned = planned
        self.writer = writer
        self.manifest = manifest
        self.progress = progress
        content = ArchiveContent(writer)
        exclusions = Dictionary(
            plan.exclusions.map { ($0.path.bytes, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Stores all SOURCEs.
    ///
    /// - Throws: ``ArchiveFailure`` when the archive or the manifest cannot be written,
    ///   `CancellationError` when stopped.
    func archive() throws {
        let sources = plan.sources.sorted { pathPrecedes($0.bytes, $1.bytes) }
        for source in sources { try archive(source) }
        for shortfall in shortfalls { try manifest.append(shortfall) }
        end.shortfalls = Int64(shortfalls.count)
    }

    private func archive(_ source: FilePath) throws {
        let path = source.removingLastComponent()
        let parent: OpenDirectory
        do throws(Errno) {
            parent = try OpenDirectory(at: path)
        } catch {
            return note(.unreadable(error), source.bytes)
        }
        let name = source.lastComponent?.bytes ?? [UInt8(ascii: ".")]
        var walk = DirectoryWalk(
            in: parent, path: path.bytes, names: EntryNames([name]), context: ())
        while let step = next(&walk) {
            if case .entry(let name) = step { try visit(name, in: &walk) }
        }
    }

    private func next(_ walk: inout DirectoryWalk<Void>) -> DirectoryWalk<Void>.Step? {
        while true {
            do throws(Errno) {
                return try walk.next()
            } catch {
                // A directory was moved while something in it was stored, or cannot be opened again;
                // what follows in it is missing.
                let isMoved = [.staleNFSFileHandle, .noSuchFileOrDirectory].contains(error)
                note(isMoved ? .changed : Shortfall.Cause(ofPlanned: error), walk.path)
            }
        }
    }

    /// Stores one item, and goes down into a directory.
    private func visit(_ name: FilePath, in walk: inout DirectoryWalk<Void>) throws {
        if progress.isStopped { throw CancellationError() }
        let directory = walk.directory
        let location = directory.location(of: name)
        let path = walk.path(of: name)
        let exclusion = exclusions[path]
        if let exclusion, !exclusion.isDirectory { return }
        let status: FileStatus
        do throws(Errno) {
            status = try location.status()
        } catch {
            if planned.isMissing(path) { note(Shortfall.Cause(ofPlanned: error), path) }
            return
        }
        let check = planned.check(
            path, kind: status.kind, size: status.size, modified: status.contentModificationTime)
        switch check {
        case .unplanned: return
        case .different where status.kind != .regularFile:
            note(.changed, path)
            return
        case .asPlanned, .different: break
        }
        if status.kind == .directory {
            return try archiveDirectory(name, in: &walk, status, exclusion)
        }
        if status.linkCount > 1, let first = firstNames[status.identity] {
            return try archive(nameOf: first, path)
        }
        let stored =
            status.kind == .regularFile
            ? try archiveFile(location, path) : try archiveOther(location, path, status)
        if status.linkCount > 1, let stored { firstNames[status.identity] = stored }
    }

    private func archiveDirectory(
        _ name: FilePath, in walk: inout DirectoryWalk<Void>, _ planned: FileStatus,
        _ exclusion: ExcludedItem?
    ) throws {
        let path = walk.path(of: name)
        let opened: OpenDirectory
        let status: FileStatus
        let names: EntryNames
        do throws(Errno) {
            opened = try walk.directory.openDirectory(name)
            status = try opened.status()
            if let exclusion {
                names = keptNames(exclusion)
            } else {
                names = try opened.names().inByteOrder()
            }
        } catch {
            note(Shortfall.Cause(ofPlanned: error), path)
            // The directory itself exists, and its marks matter.
            guard ![.notDirectory, .noSuchFileOrDirectory].contains(error) else { return }
            let directory = walk.directory
            try begin(path, planned, StoredAttributes(of: directory.location(of: name)))
            return
        }
        guard try begin(path, status, StoredAttributes(of: opened)) != nil else { return }
        walk.enter(opened, names: names, context: ())
    }

    /// Returns the names that are stored from a directory whose contents are excluded.
    private func keptNames(_ exclusion: ExcludedItem) -> EntryNames {
        EntryNames(exclusion.reason.keptFile.map { [$0.name.bytes] } ?? [])
    }

    private func archiveFile(
        _ location: DirectoryEntryLocation, _ path: [UInt8]
    ) throws -> ManifestItem? {
        let file: SharedDescriptor
        let status: FileStatus
        let regions: [Range<Int64>]?
        do throws(Errno) {
            let flags: FileDescriptor.OpenOptions = [
                .readOnly, .noFollow, .nonBlocking, .noTerminal,
            ]
            file = SharedDescriptor(try openFile(location, flags: flags))
            status = try file.descriptor.status()
            guard status.kind == .regularFile else {
                note(.changed, path)
                return nil
            }
            guard !status.isTooSparse else {
                // It grew since the plan was built.
                note(.unplanned(ExclusionReason.tooSparse.sentence), path)
                return nil
            }
            regions = try dataRegions(of: file.descriptor, status)
        } catch {
            note(Shortfall.Cause(ofPlanned: error), path)
            return nil
        }
        let attributes = StoredAttributes(of: file.descriptor)
        guard var item = try begin(path, status, attributes, regions: regions) else { return nil }
        let outcome = try content.copy(
            file, size: status.size, regions: regions, report: progress.add(bytes:))
        try writer.end()
        item.setDigest(outcome.digest, skipsHoles: outcome.skipsHoles)
        item.damage = try damage(to: file, status, outcome, path)
        try manifest.append(item)
        end.bytes.addSaturating(status.size)
        count(item)
        return item
    }

    /// Returns the damage to a file's stored content, which is also reported; nil when the file was
    /// stored as it was at one moment.
    ///
    /// A file that changed is read again: a log that only grew still begins with what was stored.
    private func damage(
        to file: SharedDescriptor, _ before: FileStatus, _ outcome: ArchiveContent.Outcome,
        _ path: [UInt8]
    ) throws -> ManifestItem.Damage? {
        if case .unreadable(let error) = outcome.shortage {
            note(.unreadable(error), path)
            return .unreadable
        }
        let after = try file.descriptor.status()
        let isSame =
            after.size == before.size
            && after.contentModificationTime == before.contentModificationTime
        if outcome.shortage == nil {
            if isSame { return nil }
            let isBeginning = try content.isBeginning(outcome, of: file, after) { _ in
                progress.isStopped
            }
            if isBeginning { return nil }
        }
        note(.changed, path)
        return .changed
    }

    private func archiveOther(
        _ location: DirectoryEntryLocation, _ path: [UInt8], _ status: FileStatus
    ) throws -> ManifestItem? {
        var target: [UInt8]?
        if status.kind == .symbolicLink {
            do throws(Errno) {
                target = try symbolicLinkTarget(location).bytes
            } catch {
                note(error == .invalidArgument ? .changed : Shortfall.Cause(ofPlanned: error), path)
                return nil
            }
        }
        return try begin(path, status, StoredAttributes(of: location), linkTarget: target)
    }

    /// Stores a hard link to a file that is in the archive.
    private func archive(nameOf first: ManifestItem, _ path: [UInt8]) throws {
        var item = first
        item.path = path
        item.hardLink = first.path
        item.attributeCount = 0
        item.attributesDigest = nil
        var metadata = ArchiveMetadata(item)
        metadata.size = 0
        try writer.begin(metadata)
        try writer.end()
        try manifest.append(item)
        count(item)
    }

    /// Writes an item's header, which completes the item unless it is a regular file.
    ///
    /// - Returns: nil when the archive cannot represent the item, which is then reported.
    @discardableResult
    private func begin(
        _ path: [UInt8], _ status: FileStatus, _ attributes: StoredAttributes,
        regions: [Range<Int64>]? = nil, linkTarget: [UInt8]? = nil
    ) throws -> ManifestItem? {
        var item = ManifestItem(path, status)
        item.linkTarget = linkTarget
        item.attributeCount = attributes.attributes.count
        if !attributes.attributes.isEmpty { item.attributesDigest = attributes.attributes.digest }
        item.device = status.representedDevice
        var metadata = ArchiveMetadata(item)
        metadata.ownerName = owners.user(status.owner)
        metadata.groupName = owners.group(status.group)
        metadata.attributes = attributes.attributes
        metadata.dataRegions = regions
        metadata.device = item.device
        do throws(ArchiveFailure) {
            try writer.begin(metadata)
        } catch {
            if error.isFatal { throw error }
            note(.refused, path)
            return nil
        }
        if let failure = attributes.failure { note(.attributes(failure.message), path) }
        guard status.kind != .regularFile else { return item }
        try writer.end()
        try manifest.append(item)
        count(item)
        return item
    }

    private func count(_ item: ManifestItem) {
        end.items += 1
        guard item.kind == .regularFile else { return }
        fileCount += 1
        fileBytes.addSaturating(item.size)
        progress.addFile()
    }

    private func note(_ cause: Shortfall.Cause, _ path: [UInt8]) {
        shortfalls.append(Shortfall(path: path, cause: cause))
    }
}
