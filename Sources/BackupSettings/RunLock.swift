import ResourceValues
import SystemCalls
import SystemPackage

/// The lock that keeps two runs apart: a file in the state directory, locked with `flock(2)`.
///
/// The kernel takes the lock away with the process, so a run that was killed leaves none behind. The
/// file stays: a lock on a file that is removed and made anew would not be one.
package final class RunLock: Sendable {
    private let file: OwnedDescriptor

    /// What trying to lock found.
    package enum Attempt: Sendable {
        /// The lock is held until this object goes.
        case taken(RunLock)
        /// A process has it; nil when it has not said yet which.
        case held(by: Int32?)
    }

    private init(_ descriptor: FileDescriptor) { file = OwnedDescriptor(descriptor) }

    /// Tries to take the lock, and writes this process's number into the file.
    ///
    /// - Parameter directory: the state directory, which must exist.
    /// - Throws: ``FileError`` when the file can be neither made nor opened, or not locked.
    package static func take(in directory: FilePath) throws(FileError) -> Attempt {
        let path = directory.appending("backup.lock")
        let lock = RunLock(try open(path))
        do throws(Errno) {
            guard try takeLock(on: lock.file.descriptor) else {
                return .held(by: try lock.holder())
            }
        } catch {
            throw .changingItem(error, path)
        }
        // Where the number cannot be written, on a full disk for one, the lock holds all the same.
        try? lock.sign()
        return .taken(lock)
    }

    /// Opens the file, made where it is missing. One that is there can be locked where nothing can
    /// be written, too.
    private static func open(_ path: FilePath) throws(FileError) -> FileDescriptor {
        let failure: FileError
        do throws(FileError) {
            if let made = try openStateFile(path, makingIt: true) { return made }
            throw .opening(.noSuchFileOrDirectory, path)
        } catch {
            failure = error
        }
        guard failure.isOfStorage, let opened = try openStateFile(path) else { throw failure }
        return opened
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
        try setSize(0, of: file.descriptor)
        try Array("\(processNumber())\n".utf8).withUnsafeBufferPointer { bytes throws(Errno) in
            try writeFile(file.descriptor, UnsafeRawBufferPointer(bytes))
        }
    }

    private func holder() throws(Errno) -> Int32? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 1)
        defer { buffer.deallocate() }
        let count = try readFile(file.descriptor, at: 0, into: buffer)
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        return Int32(text.prefix { $0 != "\n" })
    }
}
