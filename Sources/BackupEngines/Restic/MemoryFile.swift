import SystemCalls
import SystemPackage

/// A list for restic that is only in memory: it needs no disk space, no other user can read it, and
/// nothing is left behind when this process is killed.
final class MemoryFile: Sendable {
    private let file: OwnedDescriptor

    /// Creates the file with its contents.
    ///
    /// - Throws: ``BackupError`` when there is not enough memory.
    init(_ contents: [UInt8]) throws(BackupError) {
        do throws(Errno) {
            file = OwnedDescriptor(try makeMemoryFile("resval-backup-list"))
        } catch {
            throw BackupError(.other, "a list for restic cannot be made: \(error)")
        }
        let written = contents.withUnsafeBytes { bytes in
            Result { () throws(Errno) in try writeFile(file.descriptor, bytes) }
        }
        if case .failure(let error) = written {
            throw BackupError(.other, "a list for restic cannot be written: \(error)")
        }
    }

    /// The path by which another process of this user can open the file while this object exists.
    var path: [UInt8] { Array("/proc/\(processNumber())/fd/\(file.descriptor.rawValue)".utf8) }
}
