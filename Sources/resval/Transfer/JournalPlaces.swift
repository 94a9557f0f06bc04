import CommandSupport
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

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
            throw .changingItem(error, path)
        }
    }
}
