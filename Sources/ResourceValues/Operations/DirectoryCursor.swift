import SystemCalls
import SystemPackage

/// Goes down and up a tree with one open directory at a time, however deep the tree is.
///
/// The way up is `..`, and must lead to the directory the way down came from.
struct DirectoryCursor: ~Copyable {
    private var owned: OwnedDescriptor
    private var ancestors: [FileIdentity] = []

    /// Starts in an open directory, which then is the cursor's to close.
    init(_ descriptor: FileDescriptor) { owned = OwnedDescriptor(descriptor) }

    var descriptor: FileDescriptor { owned.descriptor }

    /// Goes into a directory of the current one.
    mutating func descend(into name: FilePath) throws(Errno) {
        let identity = try descriptor.status().identity
        owned = OwnedDescriptor(try openDirectory(name, in: descriptor))
        ancestors.append(identity)
    }

    /// Goes back to the directory above.
    ///
    /// - Throws: `ESTALE` when somebody moved the current directory meanwhile.
    mutating func ascend() throws(Errno) {
        guard let expected = ancestors.popLast() else { throw .invalidArgument }
        let parent = OwnedDescriptor(try openDirectory("..", in: descriptor))
        let identity = try parent.descriptor.status().identity
        owned = parent
        guard identity == expected else { throw .staleNFSFileHandle }
    }

    /// The names in the current directory, without `.` and `..`.
    func names() throws(Errno) -> [FilePath] {
        var names: [FilePath] = []
        try forEachName(in: descriptor) { name in
            names.append(FilePath(bytes: name))
            return true
        }
        return names
    }
}
