import SystemCalls
import SystemPackage

extension Examination {
    /// Removes the name of a unit that is not a directory, after checking that it still is what was
    /// examined. A file cannot be unlinked by descriptor: between the check and the call, a user
    /// who can write the directory could still replace the file.
    func removeFile() throws {
        try requireAtRest()
        do throws(Errno) {
            try removeItem(FilePath(bytes: place.name), in: place.directory, isDirectory: false)
        } catch {
            throw FileError.changingItem(error, FilePath(bytes: unit.path))
        }
    }

    /// Throws unless the name still leads to the file that was examined, unchanged, and no other
    /// process tried to open it since.
    func requireAtRest() throws(KeepReason) {
        if !unit.isDirectory { try requireNoSidecars() }
        let now = try status()
        guard now.size == unit.pin.size,
            now.contentModificationTime == unit.pin.contentModificationTime,
            now.attributeModificationTime == unit.pin.attributeModificationTime
        else { throw .changed }
        try held?.requireUndisturbed()
    }

    /// Returns the status of what now has the unit's name. Throws `changed` unless that is the unit.
    func status() throws(KeepReason) -> FileStatus {
        do throws(Errno) {
            if let status = try place.status(of: place.name), status.identity == unit.identity {
                return status
            }
        } catch {
            throw KeepReason(reaching: error)
        }
        throw .changed
    }

    /// A database is deleted only together with its sidecars, so one that has any is kept.
    private func requireNoSidecars() throws(KeepReason) {
        for suffix in DatabaseSidecars.suffixes {
            let name = place.name + Array(suffix.utf8)
            do throws(Errno) {
                if try place.status(of: name) != nil { throw Errno.fileExists }
            } catch .fileNameTooLong {
                continue
            } catch {
                throw .companion
            }
        }
    }
}
