import SystemCalls
import SystemPackage

/// A new file of a repository that has another name until it is whole.
///
/// What a killed process leaves of it can be told by its name.
final class UnfinishedFile {
    /// The file, open for reading and writing.
    var descriptor: FileDescriptor { owned.descriptor }
    /// The name it is to have.
    let name: FilePath
    private let owned: OwnedDescriptor
    private let directory: FileDescriptor
    private var isPublished = false

    /// Makes an empty file that only this user may read.
    ///
    /// - Parameter directory: stays open while this object lives.
    init(_ name: FilePath, in directory: FileDescriptor) throws(Errno) {
        self.name = name
        self.directory = directory
        owned = OwnedDescriptor(
            try makeFile(TarNames.unfinished(name), in: directory, permissions: 0o600))
    }

    deinit {
        // A name that stays is removed by the next run.
        if !isPublished {
            try? removeItem(TarNames.unfinished(name), in: directory, isDirectory: false)
        }
    }

    /// Begins to read the file at its start.
    func openAgain() throws(Errno) -> OwnedDescriptor {
        OwnedDescriptor(try reopenFile(descriptor, flags: .readOnly))
    }

    /// Gives the file its name.
    func publish(_ condition: NamingCondition = .absent) throws(Errno) {
        try renameItem(
            TarNames.unfinished(name), in: directory, to: name, in: directory, condition)
        isPublished = true
    }
}
