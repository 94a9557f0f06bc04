import SystemCalls
import SystemPackage

/// A new directory that has a temporary name until it is complete.
struct StagedDirectory: ~Copyable {
    let directory: OpenDirectory
    private let parent: OpenDirectory
    private var temporaryName: FilePath?

    /// Creates an empty directory next to a place.
    ///
    /// - Parameter permissions: the permission bits, reduced by the process's umask as for
    ///   `mkdir(2)`.
    init(at place: ItemPlace, permissions: UInt16) throws(FileError) {
        let name = makeTemporaryName()
        parent = place.parent
        directory = try attempt(place.path) { () throws(Errno) in
            try makeDirectory(name, in: place.directory, permissions: permissions)
            return try place.parent.openDirectory(name)
        }
        temporaryName = name
    }

    deinit {
        // A leftover does no harm, and the error that led here is the one to report.
        if let temporaryName { try? removeTree(temporaryName, in: parent) }
    }

    /// Gives the directory its name, which must not exist.
    mutating func publish(at place: ItemPlace) throws(FileError) {
        guard let temporaryName else { return }
        let parent = parent.descriptor
        do throws(Errno) {
            do throws(Errno) {
                try renameItem(temporaryName, in: parent, to: place.name, in: parent, .absent)
            } catch .invalidArgument {
                // Where the condition is not supported, an empty directory reserves the name until
                // the rename.
                try makeDirectory(place.name, in: parent, permissions: 0o700)
                try renameItem(temporaryName, in: parent, to: place.name, in: parent, .replacing)
            }
        } catch {
            throw .changingItem(error, place.path)
        }
        self.temporaryName = nil
    }
}
