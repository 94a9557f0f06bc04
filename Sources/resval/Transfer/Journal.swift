import CommandSupport
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

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
            throw FileError(error, of: path)
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

extension Journal {
    /// Returns a journal in the state directory, named after the command, the time and the pid.
    ///
    /// - Throws: ``FileError`` when the state directory cannot be determined.
    static func new(of command: TransferCommand) throws(FileError) -> Journal {
        let name = "\(command.rawValue)-\(FileTime.now.rfc3339)-\(processNumber()).jsonl"
        return Journal(
            at: try StateDirectory.path().appending(name), of: command, makesDirectory: true)
    }

    /// Returns the path of a command's newest journal in the state directory that is not undone.
    ///
    /// - Returns: nil when there is no such journal.
    /// - Throws: ``FileError``, also when the directory belongs to another user or other users can
    ///   write to it.
    static func newest(of command: TransferCommand) throws(FileError) -> FilePath? {
        let directory = try StateDirectory.path()
        guard try requireOwnStateDirectory(directory) else { return nil }
        var newest: [UInt8]?
        do throws(Errno) {
            try forEachName(in: directory) { name in
                guard name.starts(with: Array("\(command.rawValue)-".utf8)),
                    name.suffix(6).elementsEqual(".jsonl".utf8)
                else { return true }
                // The time in the name has a fixed width, so names sort by time.
                if newest.map({ $0.lexicographicallyPrecedes(name) }) ?? true { newest = name }
                return true
            }
        } catch {
            throw .readingDirectory(error, directory)
        }
        return newest.map { directory.pushing(FilePath(bytes: $0)) }
    }

    /// Appends `.undone` to the name of a journal, so that ``newest(of:)`` ignores it.
    static func setAside(_ path: FilePath) throws(FileError) {
        let undone = FilePath(bytes: path.bytes + Array(".undone".utf8))
        let here = FileDescriptor.workingDirectory
        do throws(Errno) {
            try renameItem(path, in: here, to: undone, in: here, .replacing)
        } catch {
            throw FileError(error, of: path)
        }
    }
}

/// A command that translates marks and keeps a journal.
enum TransferCommand: String, Sendable, Hashable {
    /// Translates foreign marks into native ones.
    case `import`
    /// Translates native marks into foreign ones.
    case export
}

/// The first line of a journal.
struct JournalHeader: Sendable, Hashable {
    /// The command whose changes the journal records.
    let command: TransferCommand

    /// Creates a header.
    init(command: TransferCommand) { self.command = command }

    /// The header as one line of JSON, including the newline.
    var line: [UInt8] { line(version: 2) }

    private func line(version: Int) -> [UInt8] {
        var line = JSONLine()
        line.add("format", "resval-journal")
        line.add("version", version)
        line.add("command", command.rawValue)
        return line.ended()
    }

    /// Parses a line without its newline.
    ///
    /// - Returns: nil when the line is not a header of version 1 or 2. Entries of version 1 identify
    ///   items by device and inode only.
    init?(line: [UInt8]) {
        for command in [TransferCommand.import, .export] {
            let header = JournalHeader(command: command)
            for version in 1...2
            where header.line(version: version) == line + [UInt8(ascii: "\n")] {
                self = header
                return
            }
        }
        return nil
    }
}
