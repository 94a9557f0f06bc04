import SystemCalls
import SystemPackage

/// A cursor that moves down and up a tree with one open directory at a time, however deep the tree
/// is.
///
/// It moves up through `..`, which must lead to the directory that it moved down from.
struct DirectoryCursor: ~Copyable {
    private var owned: OwnedDescriptor
    private var ancestors: [FileIdentity] = []

    /// Creates a cursor in an open directory, and takes ownership of its descriptor.
    init(_ descriptor: FileDescriptor) { owned = OwnedDescriptor(descriptor) }

    var descriptor: FileDescriptor { owned.descriptor }

    /// Moves to a subdirectory of the current directory.
    mutating func descend(into name: FilePath) throws(Errno) {
        let identity = try descriptor.status().identity
        owned = OwnedDescriptor(try openDirectory(name, in: descriptor))
        ancestors.append(identity)
    }

    /// Moves back to the parent directory.
    ///
    /// - Throws: `ESTALE` if the current directory was moved.
    mutating func ascend() throws(Errno) {
        guard let expected = ancestors.popLast() else { throw .invalidArgument }
        let parent = OwnedDescriptor(try openDirectory("..", in: descriptor))
        let identity = try parent.descriptor.status().identity
        owned = parent
        guard identity == expected else { throw .staleNFSFileHandle }
    }

    /// Returns the names in the current directory, without `.` and `..`.
    func names() throws(Errno) -> [FilePath] {
        var names: [FilePath] = []
        try forEachName(in: descriptor) { name in
            names.append(FilePath(bytes: name))
            return true
        }
        return names
    }
}
