import CommandSupport
import ResourceValues
import SystemCalls
import SystemPackage

/// Writes down each change before it is made, so that all of them can be undone. Threads share one.
///
/// The file is made with the first change, for its owner only, and never over another one.
package final class Journal: Sendable {
    /// Where the journal is, or will be.
    package let path: FilePath
    private let command: TransferCommand
    private let makesDirectory: Bool
    private let file = Monitor<SharedDescriptor?>(nil)

    /// Creates a journal of a command, without touching the disk.
    ///
    /// - Parameters:
    ///   - path: where the journal will be.
    ///   - command: the command.
    ///   - makesDirectory: whether the directory it is in is made, too.
    package init(at path: FilePath, of command: TransferCommand, makesDirectory: Bool = false) {
        self.path = path
        self.command = command
        self.makesDirectory = makesDirectory
    }

    /// Whether anything was written down.
    package var exists: Bool { file.withLock { $0 } != nil }

    /// Writes changes down and waits until they are on the device.
    ///
    /// - Throws: ``FileError`` naming the journal; then the changes must not be made.
    package func append(_ entries: [JournalEntry]) throws(FileError) {
        let bytes = entries.flatMap(\.line)
        if makesDirectory && !exists { try makeStateDirectory(path.removingLastComponent()) }
        do throws(Errno) {
            try file.withLock { file throws(Errno) in
                if let file {
                    try write(bytes, to: file.descriptor)
                } else {
                    file = try begin(bytes)
                }
            }
        } catch {
            throw .changingItem(error, path)
        }
    }

    private func begin(_ bytes: [UInt8]) throws(Errno) -> SharedDescriptor {
        let made = SharedDescriptor(
            try makeFile(path, in: .workingDirectory, permissions: 0o600))
        try write(JournalHeader(command: command).line + bytes, to: made.descriptor)
        let parent = path.removingLastComponent()
        let directory = OwnedDescriptor(
            try openDirectoryReference(parent.isEmpty ? "." : parent))
        try synchronizeDirectory(directory.descriptor)
        return made
    }

    private func write(_ bytes: [UInt8], to file: FileDescriptor) throws(Errno) {
        try bytes.withUnsafeBufferPointer { buffer throws(Errno) in
            try writeFile(file, UnsafeRawBufferPointer(buffer))
        }
        try synchronize(file)
    }
}
