import CommandSupport
import EffectiveValues
import Synchronization
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
    private let command: JournaledCommand
    private let file = Monitor<SharedDescriptor?>(nil)
    private let failed = Atomic(false)

    /// - Parameter path: the file to create; a missing parent directory is created with it.
    init(at path: FilePath, of command: JournaledCommand) {
        self.path = path
        self.command = command
    }

    var exists: Bool { file.withLock { $0 } != nil }

    /// Whether ``record(_:_:)`` failed, so that no more changes may be made.
    var hasFailed: Bool { failed.load(ordering: .relaxed) }

    /// Appends changes, and reports a failure, the first time only.
    ///
    /// - Returns: whether the changes may be made.
    func record(_ changes: [RecordedChange], _ outcome: Outcome) -> Bool {
        guard !hasFailed else { return false }
        do throws(FileError) {
            try append(changes)
            return true
        } catch {
            if !failed.exchange(true, ordering: .relaxed) { Messages.write(error) }
            outcome.noteFailure()
            return false
        }
    }

    /// Appends changes and synchronizes the file to the device.
    ///
    /// - Throws: ``FileError`` with the journal's path. The changes must then not be made.
    func append(_ changes: [RecordedChange]) throws(FileError) {
        let bytes = changes.flatMap { MarkLine.change($0).line }
        if !exists { try makeDirectory() }
        try calls(on: path) { () throws(Errno) in
            try file.withLock { file throws(Errno) in
                if let file {
                    try write(bytes, to: file.descriptor)
                } else {
                    file = try begin(bytes)
                }
            }
        }
    }

    private func makeDirectory() throws(FileError) {
        do throws(FileError) {
            try makeStateDirectory(path.removingLastComponent())
        } catch {
            var error = error
            error.message = "the directory of the journal cannot be made: \(error.message)"
            if error.advice == nil { error.advice = "set XDG_STATE_HOME" }
            throw error
        }
    }

    private func begin(_ bytes: [UInt8]) throws(Errno) -> SharedDescriptor {
        let made = SharedDescriptor(
            try makeFile(path, in: .workingDirectory, permissions: 0o600))
        // Held until the end of the run, so that the changes are not undone while they are made.
        // Some filesystems have no locks.
        guard (try? takeLock(on: made.descriptor)) ?? true else { throw .wouldBlock }
        do throws(Errno) {
            try write(MarkLine.journal(command).line + bytes, to: made.descriptor)
        } catch {
            // Without a change it would hide the newest journal that has one.
            try? removeFile(path)
            throw error
        }
        let parent = path.removingLastComponent()
        let directory = OwnedDescriptor(try openDirectoryReference(parent))
        try synchronizeDirectory(directory.descriptor)
        removeOldest(in: parent)
        return made
    }

    private func write(_ bytes: [UInt8], to file: FileDescriptor) throws(Errno) {
        try writeFile(file, bytes)
        try synchronize(file)
    }
}

extension Journal {
    /// The beginning of the names of journals. The time after it has a fixed width, so names sort by
    /// time.
    private static let prefix = "marks-"

    /// Returns a journal in the state directory, named after the time and the pid.
    static func new(of command: JournaledCommand) throws(FileError) -> Journal {
        let name = "\(prefix)\(FileTime.now.rfc3339)-\(processNumber()).jsonl"
        return Journal(at: try StateDirectory.path().appending(name), of: command)
    }

    /// Returns the path of the newest journal in the state directory.
    ///
    /// - Returns: nil when there is no such journal.
    /// - Throws: ``FileError``, also when the directory belongs to another user or other users can
    ///   write to it.
    static func newest() throws(FileError) -> FilePath? {
        let directory = try StateDirectory.path()
        guard try requireOwnStateDirectory(directory) else { return nil }
        let newest = try calls(on: directory, FileError.readingDirectory) { () throws(Errno) in
            try names(in: directory).last
        }
        return newest.map { directory.pushing(FilePath(bytes: $0)) }
    }

    private static let mostKept = 100

    /// Removes the oldest journals that are older than a day, so that their number is bounded.
    private func removeOldest(in directory: FilePath) {
        // What cannot be removed now is removed with the next journal.
        guard let names = try? Self.names(in: directory) else { return }
        let others = names.map { directory.pushing(FilePath(bytes: $0)) }.filter { $0 != path }
        let yesterday = FileTime.now.seconds - 24 * 60 * 60
        for other in others.dropLast(Self.mostKept - 1) {
            guard let status = try? other.withoutFollowing.status(),
                status.contentModificationTime.seconds < yesterday
            else { continue }
            try? removeFile(other)
        }
    }

    /// The names of the journals in a directory, the oldest first.
    private static func names(in directory: FilePath) throws(Errno) -> [[UInt8]] {
        var names: [[UInt8]] = []
        try forEachName(in: directory) { name in
            if isName(name) { names.append(name) }
            return true
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static func isName(_ name: [UInt8]) -> Bool {
        name.starts(with: prefix.utf8) && name.suffix(6).elementsEqual(".jsonl".utf8)
    }

    /// Deletes a journal of the state directory that is undone, so that ``newest()`` finds the one
    /// before. Any other journal, and another file that is now at the path, is left as it is.
    static func remove(_ file: FileDescriptor, at path: FilePath) throws(FileError) {
        guard let path = try? realPath(of: path), isName(path.lastComponent?.bytes ?? []),
            let directory = try? realPath(of: StateDirectory.path()),
            path.removingLastComponent() == directory,
            try path.withoutFollowing.fileStatus().identity
                == file.named(path).fileStatus().identity
        else { return }
        try calls(on: path) { () throws(Errno) in try removeFile(path) }
    }
}

enum JournaledCommand: String, Sendable, Hashable, CaseIterable {
    case `import`, export, set, unset, exclude, include, purgeable, suggest
}
