import CommandSupport
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

extension Journal {
    /// A journal in the state directory, under a name that tells when it began.
    ///
    /// - Throws: ``FileError`` where there is no directory for state.
    package static func new(of command: TransferCommand) throws(FileError) -> Journal {
        let name = "\(command.rawValue)-\(currentTime().rfc3339)-\(processNumber()).jsonl"
        return Journal(
            at: try StateDirectory.path().appending(name), of: command, makesDirectory: true)
    }

    /// The newest journal in the state directory that was not undone yet.
    ///
    /// - Returns: nil when there is none.
    /// - Throws: ``FileError``, also when the directory is not this user's alone.
    package static func newest(of command: TransferCommand) throws(FileError) -> FilePath? {
        let directory = try StateDirectory.path()
        guard try requireOwnStateDirectory(directory) else { return nil }
        var newest: [UInt8]?
        do throws(Errno) {
            try forEachName(in: directory) { name in
                guard name.starts(with: Array("\(command.rawValue)-".utf8)),
                    name.suffix(6).elementsEqual(".jsonl".utf8)
                else { return true }
                // The time in the name has one width, so names sort as times do.
                if newest.map({ $0.lexicographicallyPrecedes(name) }) ?? true { newest = name }
                return true
            }
        } catch {
            throw .readingDirectory(error, directory)
        }
        return newest.map { directory.pushing(FilePath(bytes: $0)) }
    }

    /// Renames a journal that was undone, so that ``newest(of:)`` passes over it.
    package static func setAside(_ path: FilePath) throws(FileError) {
        let undone = FilePath(bytes: path.bytes + Array(".undone".utf8))
        let here = FileDescriptor.workingDirectory
        do throws(Errno) {
            try renameItem(path, in: here, to: undone, in: here, .replacing)
        } catch {
            throw .changingItem(error, path)
        }
    }
}
