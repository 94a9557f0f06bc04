import SystemCalls
import SystemPackage

/// A new directory that has a temporary name until it is complete.
struct StagedDirectory: ~Copyable {
    private let parent: FileDescriptor
    private var temporaryName: FilePath?
    private let owned: OwnedDescriptor

    var descriptor: FileDescriptor { owned.descriptor }

    /// Makes an empty directory beside a place, which stays open while this value lives.
    ///
    /// - Parameter permissions: taken as `mkdir(2)` takes them, less the process's umask.
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
        // A leftover harms nobody, and the error that brought us here is the one to report.
        if let temporaryName { try? removeTree(temporaryName, in: parent) }
    }

    /// The directory, opened once more, for an owner that closes it.
    func reopened() throws(Errno) -> FileDescriptor { try openDirectory(".", in: descriptor) }

    /// Gives the directory its name, which nothing has.
    mutating func publish(at place: borrowing ItemPlace) throws(FileError) {
        guard let temporaryName else { return }
        do throws(Errno) {
            do throws(Errno) {
                try renameItem(temporaryName, in: parent, to: place.name, in: parent, .absent)
            } catch .invalidArgument {
                // Without that condition, an empty directory of ours keeps the name until the rename.
                try makeDirectory(place.name, in: parent, permissions: 0o700)
                try renameItem(temporaryName, in: parent, to: place.name, in: parent, .replacing)
            }
        } catch {
            throw .changingItem(error, place.path)
        }
        self.temporaryName = nil
    }
}
