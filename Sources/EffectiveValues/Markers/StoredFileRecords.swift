import ResourceValues
import SystemCalls
import SystemPackage

/// The files that verified snapshots contain as they are on the disk: `resval/stored/REPOSITORY-SET`
/// in the user's state directory, one for the newest snapshot of each set of SOURCEs.
///
/// Such a file is a header of ``headerLength`` bytes and a ``StoredFileState`` for each file, sorted, so
/// that a question takes one `pread(2)` for each halving and no memory. Other programs of the user may
/// write to it: whatever it contains, it is only compared.
package struct StoredFileRecords: Sendable, Hashable {
    /// The snapshot that a file of records is about.
    package struct Snapshot: Sendable, Hashable {
        /// The identifier that the snapshot was given when created, in ASCII.
        package let identifier: String
        /// A file that exists as long as the snapshot does; nil where the repository is not a
        /// directory of this machine.
        package let file: FilePath?

        /// The age in seconds up to which records of the snapshot are trusted: seven days, since other
        /// programs may damage the repository; one day where nothing on this machine shows that the
        /// snapshot was removed.
        package var longestAge: Int64 { (file == nil ? 1 : 7) * 86400 }

        package init(identifier: String, file: FilePath?) {
            self.identifier = identifier
            self.file = file
        }
    }

    /// The most files that are recorded of a snapshot: a list of them takes 128 MiB of memory while a
    /// snapshot is read back, and half as much again while it is sorted.
    package static let largestCount = 1 << 22
    static let headerLength = 4608

    /// The directory of the files, which need not exist.
    package let directory: FilePath

    /// Creates the records in a state directory such as `~/.local/state`.
    package init(stateHome: FilePath) {
        directory = stateHome.appending(stateDirectoryName).appending("stored")
    }

    /// Replaces the records of a set of SOURCEs, and removes all that are too old to be trusted. They
    /// are excluded from backups.
    ///
    /// - Parameters:
    ///   - repository: the repository's fingerprint, 16 hexadecimal digits.
    ///   - set: the fingerprint of the set of SOURCEs, likewise.
    ///   - files: the files, in any order. The array is sorted in place where the caller gives it away.
    /// - Throws: `FileError`; the earlier records may remain then.
    package func replace(
        _ repository: String, _ set: String, with files: consuming [StoredFileState],
        of snapshot: Snapshot
    ) throws(FileError) {
        try makeStateDirectory(directory)
        let path = directory.appending("\(repository)-\(set)")
        let header = StoredFileHeader(snapshot, count: files.count, created: .now).bytes
        files.sort()
        do throws(Errno) {
            let parent = OwnedDescriptor(try openDirectoryReference(directory))
            var staged = try StagedFile(in: parent.descriptor, permissions: 0o600)
            let name = FilePath(root: nil, path.components.suffix(1))
            // A filesystem without attributes: the records are backed up, which does no harm.
            try? staged.descriptor.named(path).setValue(true, for: .isExcludedFromBackup)
            try writeAll(header, to: staged.descriptor)
            try writeAll(files, to: staged.descriptor)
            try synchronize(staged.descriptor)
            try staged.replace(name)
        } catch {
            throw FileError(error, of: path)
        }
        let now = FileTime.now
        try remove { path, header in header?.isRecent(at: now) != true }
    }

    /// Notes that a snapshot got another identifier. Records that cannot be changed are not trusted, since
    /// their snapshot seems to be gone.
    package func renew(_ repository: String, of identifier: String, as snapshot: Snapshot) {
        // Where there are no records, none is changed.
        for path in (try? paths()) ?? []
        where path.lastComponent?.string.hasPrefix(repository) == true {
            guard let opened = try? openStateFile(path, makingIt: true) else { continue }
            let file = OwnedDescriptor(opened)
            guard let header = OpenRecords.header(of: file.descriptor),
                header.snapshot.identifier == identifier
            else { continue }
            let bytes = StoredFileHeader(
                snapshot, count: header.count, created: header.created
            ).bytes
            // A header that is half written is none.
            _ = bytes.withUnsafeBytes { try? writeFile(file.descriptor, $0, at: 0) }
        }
    }

    /// Removes the records of a repository, except those of certain snapshots.
    ///
    /// - Throws: `FileError` when one may be left.
    package func remove(_ repository: String, except kept: Set<String>) throws(FileError) {
        try remove { path, header in
            path.lastComponent?.string.hasPrefix(repository) == true
                && header.map { kept.contains($0.snapshot.identifier) } != true
        }
    }

    private func remove(
        where isRemoved: (FilePath, StoredFileHeader?) -> Bool
    ) throws(FileError) {
        for path in try paths() where isRemoved(path, try? open(path)?.header) {
            do throws(Errno) {
                try removeFile(path)
            } catch .noSuchFileOrDirectory {
                continue
            } catch .isDirectory {
                // No file of records.
                continue
            } catch {
                throw FileError(error, of: path)
            }
        }
    }

    /// Whether a verified snapshot contains a file as it is.
    ///
    /// False also when no record can be read, or when all that contain the file are too old, from the
    /// future, or about snapshots that no longer exist.
    package func contain(_ status: FileStatus, now: FileTime) -> Bool {
        guard let file = StoredFileState(status), let paths = try? paths(limit: 64) else {
            return false
        }
        return paths.contains { path in
            guard let records = try? open(path), records.header.isTrusted(at: now) else {
                return false
            }
            return (try? records.contain(file)) ?? false
        }
    }

    /// Returns the paths of all files of records; of more than `limit`, only some.
    private func paths(limit: Int = .max) throws(FileError) -> [FilePath] {
        guard try requireOwnStateDirectory(directory) else { return [] }
        var paths: [FilePath] = []
        do throws(Errno) {
            try forEachName(in: directory) { name in
                if name.count == 33 { paths.append(directory.pushing(FilePath(bytes: name))) }
                return paths.count < limit
            }
        } catch {
            throw FileError(error, of: directory)
        }
        return paths
    }

    private func open(_ path: FilePath) throws(FileError) -> OpenRecords? {
        guard let opened = try openStateFile(path) else { return nil }
        return OpenRecords(OwnedDescriptor(opened))
    }
}

/// The files to record of a snapshot, as they are found in it: all of them, or none when they are more
/// than the limit.
package struct StoredFileList: Sendable {
    /// The files, in the order in which they were found.
    package private(set) var files: [StoredFileState] = []
    private var isFull = false
    private let limit: Int

    /// - Parameter limit: the most files to keep.
    package init(limit: Int = StoredFileRecords.largestCount) { self.limit = limit }

    package mutating func append(_ file: StoredFileState) {
        guard !isFull else { return }
        isFull = files.count >= limit
        if isFull { files = [] } else { files.append(file) }
    }
}

private func writeAll<Element: BitwiseCopyable>(
    _ elements: [Element], to file: FileDescriptor
) throws(Errno) {
    let outcome = elements.withUnsafeBytes { bytes in
        Result { () throws(Errno) in try writeFile(file, bytes) }
    }
    try outcome.get()
}

/// A file of records, open for reading.
private struct OpenRecords: ~Copyable {
    let header: StoredFileHeader
    private let file: OwnedDescriptor

    /// Reads the header; nil when the file is not a whole file of records.
    init?(_ file: consuming OwnedDescriptor) {
        guard let header = Self.header(of: file.descriptor) else { return nil }
        self.header = header
        self.file = file
    }

    /// Reads the header of an open file; nil when it is not a whole file of records.
    static func header(of file: FileDescriptor) -> StoredFileHeader? {
        var bytes = [UInt8](repeating: 0, count: StoredFileRecords.headerLength)
        let read = try? bytes.withUnsafeMutableBytes { try readFile(file, at: 0, into: $0) }
        guard read == bytes.count, let header = StoredFileHeader(bytes),
            let size = try? file.status().size,
            size == Int64(bytes.count) + Int64(header.count) * Int64(StoredFileState.length)
        else { return nil }
        return header
    }

    /// Whether a file is among the records, by a binary search.
    func contain(_ wanted: StoredFileState) throws -> Bool {
        var (low, high) = (0, header.count)
        while low < high {
            let middle = low + (high - low) / 2
            let found = try record(middle)
            if found < wanted { low = middle + 1 } else { high = middle }
        }
        guard low < header.count else { return false }
        return try record(low) == wanted
    }

    private func record(_ index: Int) throws -> StoredFileState {
        let offset = Int64(StoredFileRecords.headerLength) + Int64(index * StoredFileState.length)
        return try withUnsafeTemporaryAllocation(
            byteCount: StoredFileState.length, alignment: MemoryLayout<StoredFileState>.alignment
        ) { buffer in
            guard try readFile(file.descriptor, at: offset, into: buffer) == buffer.count else {
                throw Errno.ioError
            }
            return buffer.load(as: StoredFileState.self)
        }
    }
}

/// The header of a file of records.
struct StoredFileHeader {
    let snapshot: StoredFileRecords.Snapshot
    /// The number of records that follow.
    let count: Int
    /// When the snapshot was verified.
    let created: FileTime

    private static let magic = Array("resval-stored 1\n".utf8)
    private static let identifierRange = 40..<168
    private static let pathStart = 512

    init(_ snapshot: StoredFileRecords.Snapshot, count: Int, created: FileTime) {
        self.snapshot = snapshot
        self.count = count
        self.created = created
    }

    /// Parses a header; nil when it is not one.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == StoredFileRecords.headerLength, bytes.starts(with: Self.magic) else {
            return nil
        }
        let numbers = bytes.withUnsafeBytes { buffer in
            (0..<3).map { buffer.loadUnaligned(fromByteOffset: 16 + 8 * $0, as: Int64.self) }
        }
        let identifier = bytes[Self.identifierRange].prefix { $0 != 0 }
        let path = bytes[Self.pathStart...].prefix { $0 != 0 }
        guard (0..<1_000_000_000).contains(numbers[1]),
            (0...Int64(StoredFileRecords.largestCount)).contains(numbers[2]), !identifier.isEmpty
        else { return nil }
        created = FileTime(seconds: numbers[0], nanoseconds: UInt32(numbers[1]))
        count = Int(numbers[2])
        snapshot = StoredFileRecords.Snapshot(
            identifier: String(decoding: identifier, as: UTF8.self),
            file: path.isEmpty ? nil : FilePath(bytes: path))
    }

    /// The header as bytes. A snapshot whose names do not fit gets none, and is never trusted.
    var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: StoredFileRecords.headerLength)
        let identifier = Array(snapshot.identifier.utf8)
        let path = snapshot.file?.bytes ?? []
        guard identifier.count < Self.identifierRange.count,
            path.count < bytes.count - Self.pathStart
        else { return bytes }
        bytes.replaceSubrange(..<Self.magic.count, with: Self.magic)
        bytes.withUnsafeMutableBytes { buffer in
            for (index, number) in [created.seconds, Int64(created.nanoseconds), Int64(count)]
                .enumerated()
            {
                buffer.storeBytes(of: number, toByteOffset: 16 + 8 * index, as: Int64.self)
            }
            buffer[Self.identifierRange.lowerBound...].copyBytes(from: identifier)
            buffer[Self.pathStart...].copyBytes(from: path)
        }
        return bytes
    }

    /// Whether the snapshot was verified recently, and still exists as far as this machine shows.
    func isTrusted(at now: FileTime) -> Bool {
        guard isRecent(at: now) else { return false }
        guard let file = snapshot.file else { return true }
        return (try? file.withoutFollowing.statusAtHand().kind) == .regularFile
    }

    /// Whether the snapshot was verified recently.
    func isRecent(at now: FileTime) -> Bool {
        let oldest = FileTime(
            seconds: now.seconds.subtractingSaturating(snapshot.longestAge),
            nanoseconds: now.nanoseconds)
        return created >= oldest && created <= now
    }
}
