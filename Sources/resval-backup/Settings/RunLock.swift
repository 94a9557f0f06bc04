import ResourceValues
import SystemCalls
import SystemPackage

/// The lock that prevents two runs of a configuration at once: a file in its directory, locked with
/// `flock(2)`.
///
/// The kernel releases the lock when the process ends, so a run that was killed leaves none behind.
/// The file stays: a lock on a file that is removed and created again would not exclude anyone.
final class RunLock: Sendable {
    private let file: OwnedDescriptor

    /// The outcome of trying to take the lock.
    enum Attempt: Sendable {
        /// The lock was taken; it is released when this object is deinitialized.
        case taken(RunLock)
        /// Another process has the lock; the pid in the file, or nil when the file has none.
        case held(by: Int32?)
    }

    private init(_ descriptor: FileDescriptor) { file = OwnedDescriptor(descriptor) }

    /// Takes the lock, as ``waitForLock(on:)`` does, and writes this process's pid into the file.
    ///
    /// - Parameter directory: that of the configuration, which must exist.
    /// - Throws: ``FileError`` when the file can be neither created nor opened, or cannot be
    ///   locked.
    static func take(in directory: FilePath) throws(FileError) -> Attempt {
        let path = directory.appending("lock")
        let lock = RunLock(try open(path))
        do throws(Errno) {
            guard try waitForLock(on: lock.file.descriptor) else {
                return .held(by: try lock.holder())
            }
        } catch {
            throw FileError(error, of: path)
        }
        // Where the pid cannot be written, on a full disk for example, the lock is valid without
        // it.
        try? lock.sign()
        return .taken(lock)
    }

    /// Opens the file, creating it when it is missing. An existing file can be locked even where
    /// nothing can be written.
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

    /// Whether a process has the lock. The check takes the lock for a moment.
    ///
    /// - Throws: ``FileError`` when the file cannot be opened or locked.
    static func isHeld(in directory: FilePath) throws(FileError) -> Bool {
        let path = directory.appending("lock")
        guard let opened = try openStateFile(path) else { return false }
        let file = OwnedDescriptor(opened)
        do throws(Errno) {
            return try !waitForLock(on: file.descriptor)
        } catch {
            throw .opening(error, path)
        }
    }

    private func sign() throws(Errno) {
        try setSize(0, of: file.descriptor)
        try writeFile(file.descriptor, Array("\(processNumber())\n".utf8))
    }

    private func holder() throws(Errno) -> Int32? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 1)
        defer { buffer.deallocate() }
        let count = try readFile(file.descriptor, at: 0, into: buffer)
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        return Int32(text.prefix { $0 != "\n" })
    }
}
