import CommandSupport
import ResourceValues
import SystemCalls
import SystemPackage

/// Records each change before it is made, so that the changes can be undone. Safe to share between
/// threads.
///
/// The file is created with the first change, accessible to its owner only, and never replaces an
/// existing file.
final class Journal: Sendable {
    /// The path of the journal file, which may not exist yet.
    let path: FilePath
    private let command: TransferCommand
    private let makesDirectory: Bool
    private let file = Monitor<SharedDescriptor?>(nil)

    /// Creates a journal without accessing the file system.
    ///
    /// - Parameters:
    ///   - path: The path of the file to create.
    ///   - command: The command whose changes are recorded.
    ///   - makesDirectory: Whether a missing parent directory is created with the file.
    init(at path: FilePath, of command: TransferCommand, makesDirectory: Bool = false) {
        self.path = path
        self.command = command
        self.makesDirectory = makesDirectory
    }

    /// Whether the file was created.
    var exists: Bool { file.withLock { $0 } != nil }

    /// Appends entries and synchronizes the file to the device.
    ///
    /// - Throws: ``FileError`` with the journal's path. The changes must then not be made.
    func append(_ entries: [JournalEntry]) throws(FileError) {
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
