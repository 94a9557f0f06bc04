import CLinux
import ResourceValues
import SystemCalls
import SystemPackage

/// The lock that keeps two runs apart: a file in the state directory, locked with `flock(2)`.
///
/// The kernel takes the lock away with the process, so a run that was killed leaves none behind. The
/// file stays: a lock on a file that is removed and made anew would not be one.
package final class RunLock: Sendable {
    private let descriptor: FileDescriptor

    /// What trying to lock found.
    package enum Attempt: Sendable {
        /// The lock is held until this object goes.
        case taken(RunLock)
        /// A process has it; nil when it has not said yet which.
        case held(by: Int32?)
    }

    private init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    deinit {
        // Whether closing fails or not, the lock is gone.
        closeQuietly(descriptor)
    }

    /// Tries to take the lock, and writes this process's number into the file.
    ///
    /// - Parameter directory: the state directory, which must exist.
    /// - Throws: ``FileError`` when the file cannot be made or locked.
    package static func take(in directory: FilePath) throws(FileError) -> Attempt {
        let path = directory.appending("backup.lock")
        guard let descriptor = try openStateFile(path, makingIt: true) else {
            throw .opening(.noSuchFileOrDirectory, path)
        }
        let lock = RunLock(descriptor)
        do throws(Errno) {
            guard try takeLock(on: descriptor) else { return .held(by: try lock.holder()) }
            try lock.sign()
            return .taken(lock)
        } catch {
            throw .changingItem(error, path)
        }
    }

    /// Whether a process has the lock. Looking takes it for a moment.
    ///
    /// - Throws: ``FileError`` when the file cannot be opened or locked.
    package static func isHeld(in directory: FilePath) throws(FileError) -> Bool {
        let path = directory.appending("backup.lock")
        guard let opened = try openStateFile(path) else { return false }
        let file = OwnedDescriptor(opened)
        do throws(Errno) {
            return try !takeLock(on: file.descriptor)
        } catch {
            throw .opening(error, path)
        }
    }

    private func sign() throws(Errno) {
        try setSize(0, of: descriptor)
        try Array("\(getpid())\n".utf8).withUnsafeBufferPointer { bytes throws(Errno) in
            try writeFile(descriptor, UnsafeRawBufferPointer(bytes))
        }
    }

    private func holder() throws(Errno) -> Int32? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 1)
        defer { buffer.deallocate() }
        let count = try readFile(descriptor, at: 0, into: buffer)
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        return Int32(text.prefix { $0 != "\n" })
    }
}
