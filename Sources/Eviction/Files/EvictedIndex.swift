import CLinux
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
        guard let found else { return nil }
        do throws(Errno) {
            return EvictedIndex(found, owner: try directory.status().owner)
        } catch {
            throw .readingStatus(error, of: directory)
        }
    }
}

/// The placeholders that journals know, for walks that meet many files.
public struct EvictedIndex: Sendable {
    private var files: [UInt64: [Entry]] = [:]
    /// Records that make no sense; the files they were about count as ordinary ones.
    public private(set) var unreadable: [FileError] = []

    private struct Entry: Sendable {
        let record: EvictedFile
        let owner: UInt32
    }

    /// Whether no file is evicted.
    public var isEmpty: Bool { files.isEmpty }

    /// All records, in no order.
    public var records: [EvictedFile] { files.values.flatMap { $0.map(\.record) } }

    init(_ record: EvictedFile, owner: UInt32) {
        files[record.identity.inode] = [Entry(record: record, owner: owner)]
    }

    /// Reads journals.
    ///
    /// A journal is about files of its owner only: nobody keeps another user's file out of a backup.
    ///
    /// - Throws: ``FileError`` when a journal is there and cannot be read.
    public init(_ journals: [Journal]) throws(FileError) {
        for journal in journals { try add(journal) }
    }

    /// Reads one more journal.
    public mutating func add(_ journal: Journal) throws(FileError) {
        let contents = try journal.contents()
        unreadable += contents.unreadable
        guard let owner = contents.owner else { return }
        for record in contents.files {
            files[record.identity.inode, default: []].append(Entry(record: record, owner: owner))
        }
    }

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
            let file = OwnedDescriptor(
                try openFile(location, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW))
            guard try file.descriptor.status().identity == status.identity else { return true }
            return try seekFile(file.descriptor, toNext: .data, from: 0) != nil
        } catch .resourceTemporarilyUnavailable {
            // Somebody evicts it or brings it back.
            return false
        } catch {
            return status.allocatedSize > record.remainingBytes ?? 0
        }
    }
}
