import BackupPlanning
import ResourceValues
import SystemCalls
import SystemPackage

/// Checks every restored item: whether it exists, and what restic left undone.
struct RestoreCheck: SnapshotEntryHandler {
    /// The number of items of the SOURCEs that were restored. The directories above them are
    /// checked, too, and belong to no count.
    private(set) var count = 0
    /// Items that are not as they should be.
    private(set) var failures: [RestoreFailure] = []
    /// The items whose extended attributes may differ from the snapshot's, which restic does not
    /// report: their names by directory.
    private(set) var withoutAttributes: [[UInt8]: Set<[UInt8]>] = [:]
    /// restic's complaints; those about checked items are among the failures.
    private(set) var complaints: RestoreComplaints
    private let includes: IncludedPaths
    private let items: SourceItems
    private let attributed: AttributedItems?
    private let tree: TargetTree
    private let counter: StepCounter

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - items: the items that are counted.
    ///   - attributed: the read-only items with extended attributes; nil when they are unknown.
    ///   - counter: counts the items for the progress.
    init(
        target: FilePath, _ includes: IncludedPaths, of items: SourceItems,
        _ complaints: RestoreComplaints, attributed: AttributedItems?,
        counter: StepCounter
    ) throws(Errno) {
        tree = try TargetTree(target)
        self.includes = includes
        self.items = items
        self.attributed = attributed
        self.complaints = complaints
        self.counter = counter
        if includes.isEverything { count = items.unlistedCount }
    }

    mutating func receive(_ entry: SnapshotEntry) {
        let complaint = complaints.cause(of: entry.path)
        guard includes.contains(entry.path) else {
            // A directory above a wanted item.
            if let complaint { fail(entry, complaint) }
            return
        }
        if items.contains(entry.path) {
            count += 1
            counter.add(files: 1)
        }
        do throws(Errno) {
            // The same file throughout, even if another takes its name meanwhile.
            let file = try tree.openItem(entry.path)
            let status = try file.descriptor.status()
            guard complaint == nil, isSame(status, entry) else {
                return fail(entry, complaint ?? .different(nil))
            }
            noteAttributes(entry, file.descriptor, status)
            if entry.kind == .regularFile { dig(entry, file.descriptor, status) }
        } catch {
            let reason = if case .different(let reason?) = complaint { reason } else { "\(error)" }
            fail(entry, .missing(reason))
        }
    }

    private func isSame(_ status: FileStatus, _ entry: SnapshotEntry) -> Bool {
        guard status.kind == entry.kind else { return false }
        guard entry.kind == .regularFile else { return true }
        return status.size == entry.size && status.contentModificationTime == entry.modified
    }

    private mutating func dig(
        _ entry: SnapshotEntry, _ file: FileDescriptor, _ status: FileStatus
    ) {
        do throws(Errno) {
            try HoleDigger.dig(in: file, status)
        } catch {
            fail(entry, .holes("\(error)"))
        }
    }

    private mutating func noteAttributes(
        _ entry: SnapshotEntry, _ file: FileDescriptor, _ status: FileStatus
    ) {
        guard entry.kind.canStoreUserAttributes,
            let slash = entry.path.lastIndex(of: UInt8(ascii: "/"))
        else { return }
        let ownerWrites: UInt16 = 0o200
        let isLocked = effectiveUser() != 0 && entry.permissions & ownerWrites == 0
        if let recorded = attributed?.attributes(of: entry.path) {
            do throws(FileError) {
                if let digest = recorded.digest,
                    try AttributeDigest(of: file).hexadecimal == digest
                {
                    return
                }
                // Throws when the filesystem stores no user attributes at all.
                _ = try file.extendedAttribute(named: "user.resval")
            } catch {
                return fail(entry, .init(error, storingAttributesOn: file))
            }
            if isLocked, !recorded.values.isEmpty {
                if let cause = storeAttributes(recorded.values, on: file) {
                    return fail(entry, cause)
                }
                // What the record has may not be all, or not what the snapshot has. Attributes that
                // cannot be read now count as others, and are taken from the snapshot.
                if let digest = recorded.digest,
                    (try? AttributeDigest(of: file))?.hexadecimal == digest
                {
                    return
                }
            }
        } else {
            guard isLocked, attributed?.mayHold(entry.path) ?? true else { return }
        }
        let directory = slash == 0 ? [UInt8(ascii: "/")] : Array(entry.path[..<slash])
        withoutAttributes[directory, default: []].insert(Array(entry.path[(slash + 1)...]))
    }

    private mutating func fail(_ entry: SnapshotEntry, _ cause: RestoreFailure.Cause) {
        failures.append(RestoreFailure(path: entry.path, cause: cause))
    }
}

/// The items of a snapshot that have extended attributes, from its record.
package struct AttributedItems: RecordHandler {
    typealias Recorded = (digest: String?, values: [ExtendedAttributeName: [UInt8]])

    private var readOnly: Set<[UInt8]> = []
    private var recorded: [[UInt8]: Recorded] = [:]
    private let sources: [[UInt8]]

    /// Creates an empty collection.
    ///
    /// - Parameter sources: the SOURCEs that the record covers.
    init(sources: [[UInt8]]) { self.sources = sources }

    package mutating func receive(_ line: RecordLine) {
        switch line {
        case .readOnly(let path): readOnly.insert(path)
        case .attributes(let path, let digest, let values): recorded[path] = (digest, values)
        default: break
        }
    }

    /// Returns the digest of an item's attributes, nil when the record has none, and the values that
    /// the record has; nil when the record has no attributes of the item.
    func attributes(of path: [UInt8]) -> Recorded? { recorded[path] }

    /// Whether an item that its owner may not write to can have attributes without a digest in the
    /// record, which does not cover directories above the SOURCEs.
    func mayHold(_ path: [UInt8]) -> Bool {
        readOnly.contains(path) || !sources.contains { isHeld(path, by: $0) }
    }
}
