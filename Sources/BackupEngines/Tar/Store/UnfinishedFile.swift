import SystemCalls
import SystemPackage

/// A new file of a repository that has a temporary name until it is complete.
///
/// The name identifies what a killed process leaves.
final class UnfinishedFile {
    /// The file, open for reading and writing.
    var descriptor: FileDescriptor { owned.descriptor }
    /// The final name.
    let name: FilePath
    private let owned: OwnedDescriptor
    private let directory: FileDescriptor
    private var isPublished = false

    /// Creates an empty file that only this user may read.
    ///
    /// - Parameter directory: must stay open while this object exists.
    init(_ name: FilePath, in directory: FileDescriptor) throws(Errno) {
        self.name = name
        self.directory = directory
        owned = OwnedDescriptor(
            try makeFile(TarNames.unfinished(name), in: directory, permissions: 0o600))
    }

    deinit {
        // A file that cannot be removed is removed by the next run.
        if !isPublished {
            try? removeItem(TarNames.unfinished(name), in: directory, isDirectory: false)
        }
    }

    /// Opens the file again, to read it from its start.
    func openAgain() throws(Errno) -> OwnedDescriptor {
        OwnedDescriptor(try reopenFile(descriptor, flags: .readOnly))
    }

    /// Gives the file its final name.
    func publish(_ condition: NamingCondition = .absent) throws(Errno) {
        try renameItem(
            TarNames.unfinished(name), in: directory, to: name, in: directory, condition)
        isPublished = true
    }
}
