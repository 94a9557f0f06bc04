import SystemCalls
import SystemPackage

extension Examination {
    /// Removes the name of a unit that is no directory, once it is sure that it is still what was
    /// examined. There is no unlinking by descriptor: between the last look and the call nobody else
    /// but who may write the directory can put another file there.
    func removeFile() throws {
        try requireAtRest()
        do throws(Errno) {
            try removeItem(FilePath(bytes: place.name), in: place.directory, isDirectory: false)
        } catch {
            throw FileError.changingItem(error, FilePath(bytes: unit.path))
        }
    }

    /// Throws unless the name still is the file that was examined, unchanged, and nobody has opened it
    /// since.
    func requireAtRest() throws(KeepReason) {
        if !unit.isDirectory { try requireNoCompanions() }
        let name = FilePath(bytes: place.name)
        let now = try reaching { () throws(Errno) in
            try DirectoryEntryLocation(directory: place.directory, name: name).statusAtHand()
        }
        guard now.identity == unit.identity, now.size == unit.pin.size,
            now.contentModificationTime == unit.pin.contentModificationTime,
            now.attributeModificationTime == unit.pin.attributeModificationTime
        else { throw .changed }
        try held?.requireUndisturbed()
    }

    /// A database goes only together with its journals, so one that has any is kept.
    private func requireNoCompanions() throws(KeepReason) {
        for suffix in Companions.suffixes {
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
