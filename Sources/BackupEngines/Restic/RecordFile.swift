import CLinux
import SystemCalls
import SystemPackage

/// A snapshot's record as a file that restic can store, private to the user and removed in the end.
///
/// The name is the same in every run, so that a file left by a killed one is taken over rather than
/// joined by another, and so that restic groups the snapshots of a set of SOURCEs by their paths.
/// A second backup of the same SOURCEs at the same time finds it locked and takes the next number.
final class RecordFile: Sendable {
    /// The file's absolute path, of plain ASCII characters.
    let path: FilePath
    private let descriptor: FileDescriptor

    private static let directories: [FilePath] = ["/tmp", "/var/tmp"]
    private static let limit = 100

    /// Writes a record.
    ///
    /// - Parameters:
    ///   - name: tells the set of SOURCEs, in ASCII.
    ///   - sources: the SOURCEs, which do not hold the file if that can be helped.
    /// - Throws: ``BackupError`` when the file can be written nowhere.
    init(_ record: [UInt8], name: String, outside sources: [FilePath]) throws(BackupError) {
        let isInside = { (directory: FilePath) in
            sources.contains { directory.starts(with: $0) }
        }
        let directories =
            Self.directories.filter { !isInside($0) }
            + Self.directories.filter { isInside($0) }
        var failure = Errno.noSuchFileOrDirectory
        for directory in directories {
            do throws(Errno) {
                let (path, descriptor) = try Self.open(
                    in: directory, name: "resval-record-\(effectiveUser())-\(name)")
                do throws(Errno) {
                    try Self.write(record, to: descriptor)
                    (self.path, self.descriptor) = (path, descriptor)
                    return
                } catch {
                    // The next run takes over what stays.
                    try? removeFile(path)
                    closeQuietly(descriptor)
                    throw error
                }
            } catch {
                failure = error
            }
        }
        throw BackupError(
            failure == .noSpace ? .noSpace : .other,
            "the record of what is left out cannot be written to /tmp or /var/tmp: \(failure)",
            advice: "make room there, and see that the directory can be written to")
    }

    deinit {
        // A file that stays is taken over by the next run; the lock goes with the descriptor.
        try? removeFile(path)
        closeQuietly(descriptor)
    }

    /// Makes a file, or takes over one that a killed process of this user left.
    private static func open(
        in directory: FilePath, name: String
    ) throws(Errno) -> (FilePath, FileDescriptor) {
        for number in 0..<limit {
            let path = directory.appending(number == 0 ? name : "\(name)-\(number)")
            let descriptor: FileDescriptor
            do throws(Errno) {
                descriptor = try openFile(
                    in: FileDescriptor(rawValue: AT_FDCWD), path,
                    flags: O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, permissions: 0o600)
            } catch .permissionDenied {
                // Somebody else's, or the directory may not be written to: another number tells.
                continue
            } catch .tooManySymbolicLinkLevels {
                continue
            } catch .isDirectory {
                continue
            }
            do throws(Errno) {
                if try isOurs(descriptor, path) { return (path, descriptor) }
            } catch {
                closeQuietly(descriptor)
                throw error
            }
            try closeFile(descriptor)
        }
        throw .permissionDenied
    }

    /// Whether the file is this user's alone, nobody uses it, and the path still leads to it.
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
