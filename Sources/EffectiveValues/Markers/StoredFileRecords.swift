import ResourceValues
import SystemPackage

/// The files that snapshots contain as they are on the disk, for programs that ask before they evict
/// one: `resval/stored/REPOSITORY-SET-SNAPSHOT` in the user's state directory, one for the newest
/// snapshot of each set of SOURCEs.
///
/// Such a file consists of numbers of eight bytes in the byte order of the machine, the count of the
/// files and the sorted hash of each, and of the path of the directory with the repository's snapshots,
/// which is empty where that is not on this machine. It was written when the files had been compared.
/// Other programs of the user may write to it: whatever it contains, it is only compared.
package struct StoredFileRecords: Sendable, Hashable {
    package let directory: FilePath

    package init(stateHome: FilePath) {
        directory = stateHome.appending(stateDirectoryName).appending("stored")
    }

    /// Returns the hash of a regular file's path, device, inode, size and times.
    ///
    /// A change of a file's content or metadata sets its `st_ctime` to the clock; no program can set
    /// another time. So a file that still has this hash has the content that it had when the times were
    /// read, unless a program writes through a shared mapping: of such writes only the first to a page
    /// after it was written back sets the time, and on tmpfs, which never writes back, possibly none.
    ///
    /// - Parameter path: the real path.
    /// - Returns: nil for anything but a regular file, and where the filesystem stores whole seconds,
    ///   which cannot prove that nothing changed.
    package static func hash(of path: [UInt8], _ status: FileStatus) -> UInt64? {
        let (changed, modified) = (
            status.attributeModificationTime, status.contentModificationTime
        )
        guard status.kind == .regularFile, changed.nanoseconds != 0 else { return nil }
        var bytes = path
        for number in [
            status.identity.device, status.identity.inode, UInt64(bitPattern: status.size),
            UInt64(bitPattern: modified.seconds), UInt64(modified.nanoseconds),
            UInt64(bitPattern: changed.seconds), UInt64(changed.nanoseconds),
        ] {
            withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
        }
        return stableHash(of: bytes)
    }

    /// Records the files of the newest snapshot of a set of SOURCEs in place of those of earlier ones,
    /// and removes all records that are too old to be trusted. They are excluded from backups.
    ///
    /// - Parameters:
    ///   - repository: the repository's fingerprint, 16 hexadecimal digits.
    ///   - set: the fingerprint of the set of SOURCEs, likewise.
    ///   - snapshot: the snapshot's identifier.
    ///   - snapshots: the directory with a file for each snapshot; nil where the repository is not a
    ///     directory of this machine.
    ///   - hashes: the files, in any order. The array is sorted in place where the caller gives it away.
    /// - Throws: `FileError`; the earlier records may remain then.
    package func replace(
        _ repository: String, _ set: String, of snapshot: String, in snapshots: FilePath?,
        with hashes: consuming [UInt64]
    ) throws(FileError) {
        try makeStateDirectory(directory)
        let path = directory.appending("\(repository)-\(set)-\(snapshot)")
        hashes.sort()
        try calls(on: path) { () throws(Errno) in
            let parent = OpenDirectory(try openDirectoryReference(directory))
            var staged = try StagedFile(in: parent, permissions: 0o600)
            // A filesystem without attributes: the records are backed up, which does no harm.
            try? staged.descriptor.named(path).setValue(true, for: .isExcludedFromBackup)
            try writeFile(staged.descriptor, [UInt64(hashes.count)])
            try writeFile(staged.descriptor, hashes)
            try writeFile(staged.descriptor, snapshots?.bytes ?? [])
            try synchronize(staged.descriptor)
            try staged.replace(path.lastName)
        }
        let now = FileTime.now
        try remove { other in
            guard other != path else { return false }
            return other.name.hasPrefix("\(repository)-\(set)-")
                || (try? other.withoutFollowing.fileStatus().isWritten(within: 7, of: now)) != true
        }
    }

    /// Notes that a snapshot got another identifier. Where that fails, its records are not trusted, since
    /// it seems to be gone.
    package func rename(_ repository: String, _ snapshot: String, to new: String) {
        for path in (try? paths()) ?? []
        where path.name.hasPrefix(repository) && path.name.hasSuffix("-\(snapshot)") {
            let renamed = path.name.dropLast(snapshot.utf8.count) + new
            try? renameItem(
                path, in: .workingDirectory, to: directory.appending(String(renamed)),
                in: .workingDirectory, .replacing)
        }
    }

    /// Removes the records of a repository, except those of certain snapshots.
    ///
    /// - Throws: `FileError` when one may be left.
    package func remove(_ repository: String, except kept: Set<String>) throws(FileError) {
        try remove { path in
            path.name.hasPrefix(repository) && !kept.contains(path.snapshot)
        }
    }

    private func remove(where isRemoved: (FilePath) -> Bool) throws(FileError) {
        for path in try paths() where isRemoved(path) {
            do throws(Errno) {
                try removeFile(path)
            } catch .noSuchFileOrDirectory, .isDirectory {
                // Removed meanwhile, or no file of records.
            } catch {
                throw FileError(error, of: path)
            }
        }
    }

    /// Whether a snapshot contains a file as it is.
    ///
    /// False also when no record can be read, or when all that contain the file are too old, from the
    /// future, or about snapshots that no longer exist. They are trusted for seven days, since other
    /// programs may damage the repository, and for one where nothing on this machine shows that the
    /// snapshot was removed.
    ///
    /// - Parameter path: the real path.
    package func contain(_ path: FilePath, _ status: FileStatus, now: FileTime) -> Bool {
        guard let hash = Self.hash(of: path.bytes, status), let paths = try? paths(limit: 64) else {
            return false
        }
        return paths.contains { (try? contains(hash, $0, now)) == true }
    }

    private func contains(_ hash: UInt64, _ path: FilePath, _ now: FileTime) throws -> Bool {
        guard let opened = try openStateFile(path) else { return false }
        let file = OwnedDescriptor(opened)
        let status = try file.descriptor.status()
        let count = try readNumber(0, of: file.descriptor)
        guard count < UInt64(clamping: status.size / 8) else { return false }
        let numbers = Int64(count) + 1
        let snapshots = try readFile(file.descriptor, at: numbers * 8, count: longestPath)
        let days: Int64 = snapshots.isEmpty ? 1 : 7
        guard snapshots.count < longestPath, status.isWritten(within: days, of: now) else {
            return false
        }
        if !snapshots.isEmpty {
            let snapshot = FilePath(bytes: snapshots).appending(path.snapshot)
            guard try snapshot.withoutFollowing.statusAtHand().kind == .regularFile else {
                return false
            }
        }
        var (low, high) = (1 as Int64, numbers)
        while low < high {
            let middle = (low + high) / 2
            let found = try readNumber(middle, of: file.descriptor)
            if found == hash { return true }
            if found < hash { low = middle + 1 } else { high = middle }
        }
        return false
    }

    /// Returns the paths of all files of records; of more than `limit`, only some.
    private func paths(limit: Int = .max) throws(FileError) -> [FilePath] {
        guard try requireOwnStateDirectory(directory) else { return [] }
        var paths: [FilePath] = []
        try calls(on: directory) { () throws(Errno) in
            try forEachName(in: directory) { name in
                let hyphen = UInt8(ascii: "-")
                if name.count > 34, name[16] == hyphen, name[33] == hyphen {
                    paths.append(directory.pushing(FilePath(bytes: name)))
                }
                return paths.count < limit
            }
        }
        return paths
    }
}

extension FilePath {
    fileprivate var name: String { lastComponent?.string ?? "" }

    fileprivate var snapshot: String { String(name.dropFirst(34)) }
}

extension FileStatus {
    /// Whether a file was written in the last so many days.
    fileprivate func isWritten(within days: Int64, of now: FileTime) -> Bool {
        let oldest = FileTime(
            seconds: now.seconds.subtractingSaturating(days * 86400), nanoseconds: now.nanoseconds)
        return contentModificationTime >= oldest && contentModificationTime <= now
    }
}

private func readNumber(_ index: Int64, of file: FileDescriptor) throws -> UInt64 {
    let bytes = try readFile(file, at: index * 8, count: 8)
    guard bytes.count == 8 else { throw Errno.ioError }
    return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
}
