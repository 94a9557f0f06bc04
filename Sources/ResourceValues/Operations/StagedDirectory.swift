import SystemCalls
import SystemPackage

/// A new directory that has a temporary name until it is complete.
struct StagedDirectory: ~Copyable {
    private let parent: FileDescriptor
    private var temporaryName: FilePath?
    private let owned: OwnedDescriptor

    var descriptor: FileDescriptor { owned.descriptor }

    /// Creates an empty directory next to a place, which must stay open during this value's
    /// lifetime.
    ///
    /// - Parameter permissions: the permission bits, reduced by the process's umask as for
    ///   `mkdir(2)`.
    init(at place: borrowing ItemPlace, permissions: UInt16) throws(FileError) {
        let name = makeTemporaryName()
        let directory = place.directory
        owned = OwnedDescriptor(
            try attempt(place.path) { () throws(Errno) in
                try makeDirectory(name, in: directory, permissions: permissions)
                return try openDirectory(name, in: directory)
            })
        parent = directory
        temporaryName = name
    }

    deinit {
        // A leftover does no harm, and the error that led here is the one to report.
        if let temporaryName { try? removeTree(temporaryName, in: parent) }
    }

    /// Returns the directory, opened again, for an owner that closes it.
    func reopened() throws(Errno) -> FileDescriptor { try openDirectory(".", in: descriptor) }

    /// Gives the directory its name, which must not exist.
    mutating func publish(at place: borrowing ItemPlace) throws(FileError) {
        guard let temporaryName else { return }
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
