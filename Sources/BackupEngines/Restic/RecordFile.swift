import SystemCalls
import SystemPackage

/// A snapshot's record as a file that restic can store, private to the user and removed afterwards.
///
/// The file is in a directory that only this user can enter, so no other user can take its name.
/// The path is the same in every run, so that a file left by a killed process is taken over instead
/// of being joined by another, and so that restic groups the snapshots of a set of SOURCEs by their
/// paths. When another user has taken the directory's name, a directory with a random name is used.
/// A concurrent backup of the same SOURCEs finds the file locked and appends a number to its name.
final class RecordFile: Sendable {
    /// The file's absolute path, in plain ASCII.
    let path: FilePath
    private let descriptor: FileDescriptor

    private static let limit = 100

    /// Writes a record.
    ///
    /// - Parameters:
    ///   - name: the file's name, in ASCII.
    ///   - sources: the SOURCEs, outside of which the file is created if possible.
    ///   - bases: directories that every user may write to, in order of preference.
    /// - Throws: ``BackupError`` when the file cannot be written in any of them.
    init(
        _ record: [UInt8], name: String, outside sources: [FilePath],
        below bases: [FilePath] = ["/tmp", "/var/tmp"]
    ) throws(BackupError) {
        let isInside = { (directory: FilePath) in
            sources.contains { directory.starts(with: $0) }
        }
        var failure = Errno.noSuchFileOrDirectory
        for base in bases.filter({ !isInside($0) }) + bases.filter(isInside) {
            do throws(Errno) {
                let (path, descriptor) = try Self.open(below: base, name)
                do throws(Errno) {
                    try Self.write(record, to: descriptor)
                    (self.path, self.descriptor) = (path, descriptor)
                    return
                } catch {
                    Self.remove(path, descriptor)
                    throw error
                }
            } catch {
                failure = error
            }
        }
        throw BackupError(
            failure == .noSpace ? .noSpace : .other,
            "the record of what is excluded cannot be written to "
                + "\(bases.map(\.string).joined(separator: " or ")): \(failure)",
            advice: "make room there, and make sure that the directory is writable")
    }

    deinit { Self.remove(path, descriptor) }

    /// Removes a record. The next run takes over what cannot be removed; closing the descriptor
    /// releases the lock.
    private static func remove(_ path: FilePath, _ descriptor: FileDescriptor) {
        try? removeFile(path)
        closeIgnoringErrors(descriptor)
        // Another backup of this user may use the directory.
        try? removeItem(path.removingLastComponent(), in: .workingDirectory, isDirectory: true)
    }

    /// Creates a file in this user's directory.
    private static func open(
        below base: FilePath, _ name: String
    ) throws(Errno) -> (FilePath, FileDescriptor) {
        let usual = base.appending(RecordPath.directoryName(effectiveUser()))
        for _ in 0..<limit {
            do throws(Errno) {
                var directory = usual
                if !(try makePrivateDirectory(directory)) {
                    removeLeftovers(of: usual, below: base)
                    directory = FilePath(bytes: usual.bytes + Array("-\(makeRandomName())".utf8))
                    guard try makePrivateDirectory(directory) else { continue }
                }
                return try open(in: directory, name)
            } catch .noSuchFileOrDirectory where (try? base.status()) != nil {
                // `base` is there, so another backup of this user removed the directory while it was empty.
                continue
            }
        }
        throw .fileExists
    }

    /// Creates a directory that only this user can enter, or accepts an existing one.
    ///
    /// - Returns: false when something else has the name.
    private static func makePrivateDirectory(_ path: FilePath) throws(Errno) -> Bool {
        do throws(Errno) {
            try makeDirectory(path, in: .workingDirectory, permissions: 0o700)
        } catch .fileExists {
            // The owner is checked below. In a directory with the sticky bit, no other user can
            // replace it.
        }
        return isPrivate(try path.withoutFollowing.status())
    }

    private static func isPrivate(_ status: FileStatus) -> Bool {
        status.kind == .directory && status.owner == effectiveUser()
            && status.permissions & 0o777 == 0o700
    }

    private static func makeRandomName() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Removes the directories with random names, and the records in them, that killed processes of
    /// this user left. Locked files are in use.
    private static func removeLeftovers(of usual: FilePath, below base: FilePath) {
        let start = (usual.lastComponent?.bytes ?? []) + Array("-".utf8)
        // In a directory that cannot be read, nothing can be removed.
        try? forEachName(in: base) { name in
            guard name.starts(with: start), name.count == start.count + 16 else { return true }
            let directory = base.pushing(FilePath(bytes: name))
            do throws(Errno) {
                guard isPrivate(try directory.withoutFollowing.status()) else { return true }
                try forEachName(in: directory) { name in
                    removeLeftover(directory.pushing(FilePath(bytes: name)))
                    return true
                }
                try removeItem(directory, in: .workingDirectory, isDirectory: true)
            } catch {
                // In use, or already removed.
            }
            return true
        }
    }

    private static func removeLeftover(_ file: FilePath) {
        do throws(Errno) {
            let opened = OwnedDescriptor(try openOrMake(file, .readWrite))
            guard try isOurs(opened.descriptor, file) else { return }
            try removeFile(file)
        } catch {
            // Already removed, or not removable: it stays for another run.
        }
    }

    private static func openOrMake(
        _ path: FilePath, _ flags: FileDescriptor.OpenOptions
    ) throws(Errno) -> FileDescriptor {
        try openFile(
            in: .workingDirectory, path,
            flags: flags.union([.noFollow, .nonBlocking, .noTerminal]),
            permissions: 0o600)
    }

    /// Creates a file, or takes over one that a killed process of this user left.
    private static func open(
        in directory: FilePath, _ name: String
    ) throws(Errno) -> (FilePath, FileDescriptor) {
        for number in 0..<limit {
            let path = directory.appending(number == 0 ? name : "\(name)-\(number)")
            let descriptor = try openOrMake(path, [.readWrite, .create])
            do throws(Errno) {
                if try isOurs(descriptor, path) { return (path, descriptor) }
            } catch {
                closeIgnoringErrors(descriptor)
                throw error
            }
            try closeFile(descriptor)
        }
        throw .fileExists
    }

    /// Whether the file is accessible to this user only, is not in use, and still has this path.
    /// Takes the file's lock.
    private static func isOurs(
        _ descriptor: FileDescriptor, _ path: FilePath
    ) throws(Errno) -> Bool {
        let status = try descriptor.status()
        guard status.kind == .regularFile, status.owner == effectiveUser(),
            status.permissions == 0o600, status.linkCount == 1,
            try takeLock(on: descriptor)
        else { return false }
        do throws(Errno) {
            return try path.withoutFollowing.status().identity == status.identity
        } catch .noSuchFileOrDirectory {
            return false
        }
    }

    private static func write(_ record: [UInt8], to descriptor: FileDescriptor) throws(Errno) {
        try setSize(0, of: descriptor)
        let written = record.withUnsafeBytes { bytes in
            Result { () throws(Errno) in try writeFile(descriptor, bytes) }
        }
        try written.get()
    }
}
