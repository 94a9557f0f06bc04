import ResourceValues
import SystemCalls
import SystemPackage

extension Journal {
    /// An index of the one record that may be about a file; nil when there is none, which costs one call
    /// for a file that has as many blocks as its size needs.
    public func index(
        of status: FileStatus, at path: FilePath
    ) throws(FileError) -> EvictedIndex? {
        let mayHaveMoved = status.permissions == 0 || status.allocatedSize < status.size
        let found =
            mayHaveMoved
            ? try record(of: status, at: path) : try record(named: status.identity)
        return found.map { EvictedIndex($0, owner: effectiveUser()) }
    }
}

/// The placeholders that journals know, for walks that meet many files.
public struct EvictedIndex: Sendable {
    private var files: [UInt64: [Entry]] = [:]
    /// Records that make no sense; the files they were about count as ordinary ones.
    public private(set) var unreadable: [FileError] = []
    /// Those of the snapshots that records name that exist; nil when that was not looked at.
    public var foundHolds: Set<HoldSnapshot>?

    private struct Entry: Sendable {
        let record: EvictedFile
        let owner: UInt32
    }

    /// Whether no file is evicted.
    public var isEmpty: Bool { files.isEmpty }

    /// All records, in no order.
    public var records: [EvictedFile] { files.values.flatMap { $0.map(\.record) } }

    /// Creates an index of no files.
    public init() {}

    init(_ record: EvictedFile, owner: UInt32) {
        files[record.identity.inode] = [Entry(record: record, owner: owner)]
    }

    /// Reads journals of the user who runs this.
    ///
    /// - Throws: ``FileError`` when a journal is there and cannot be read.
    public init(_ journals: [Journal]) throws(FileError) {
        for journal in journals { add(try journal.contents()) }
    }

    /// Adds what a journal holds.
    ///
    /// A journal is about files of its owner only: nobody keeps another user's file out of a backup.
    public mutating func add(_ contents: Journal.Contents) {
        unreadable += contents.unreadable
        for record in contents.files {
            files[record.identity.inode, default: []].append(
                Entry(record: record, owner: contents.owner))
        }
    }

    /// The snapshots that records of some users name.
    public func holds(ofOwner isWanted: (UInt32) -> Bool) -> Set<HoldSnapshot> {
        Set(files.values.joined().filter { isWanted($0.owner) }.map(\.record.hold))
    }

    /// Whether the snapshot was found that a record names; true as long as ``foundHolds`` is nil.
    public func isKept(_ record: EvictedFile) -> Bool { foundHolds?.contains(record.hold) ?? true }

    /// Whether a journal knows the inode: one look into a table.
    public func mayKnow(_ status: FileStatus) -> Bool { files[status.identity.inode] != nil }

    /// The record of a file that must not be read, since it does not hold its content: a placeholder,
    /// or one whose eviction or download is under way or was cut off. nil for an ordinary file.
    ///
    /// A file that a journal knows is opened, to ask for data; who may not open it learns from its
    /// size on the disk.
    public func placeholder(
        _ location: borrowing some FileLocation & ~Copyable, _ status: FileStatus,
        at path: FilePath
    ) -> EvictedFile? {
        guard let entries = files[status.identity.inode], status.kind == .regularFile else {
            return nil
        }
        let entry = entries.first {
            $0.owner == status.owner && $0.record.isAbout(status, at: path)
        }
        guard let record = entry?.record, status.size == record.size else { return nil }
        switch record.state {
        case .held: return nil
        case .punching, .downloading: return status.permissions == 0 ? record : nil
        case .evicted: break
        }
        guard record.hasSizeAndTime(of: status) else { return nil }
        return hasData(location, status, record) ? nil : record
    }

    private func hasData(
        _ location: borrowing some FileLocation & ~Copyable, _ status: FileStatus,
        _ record: EvictedFile
    ) -> Bool {
        do throws(Errno) {
            // What is opened is what was looked at: opening a device can do something.
            let item = OwnedDescriptor(try openFile(location, flags: [.reference, .noFollow]))
            guard try item.descriptor.status().identity == status.identity else { return true }
            let file = OwnedDescriptor(
                try reopenFile(item.descriptor, flags: [.readOnly, .nonBlocking, .noTerminal]))
            return try seekFile(file.descriptor, toNext: .data, from: 0) != nil
        } catch .resourceTemporarilyUnavailable {
            // Somebody evicts it or brings it back.
            return false
        } catch {
            return status.allocatedSize > record.remainingBytes ?? 0
        }
    }
}
