import SystemCalls
import SystemPackage

/// Goes down and up a tree with one open directory at a time, however deep the tree is.
///
/// The way up is `..`, and must lead to the directory the way down came from.
struct DirectoryCursor: ~Copyable {
    private(set) var descriptor: FileDescriptor
    private var ancestors: [FileIdentity] = []

    /// Starts in an open directory, which then is the cursor's to close.
    init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    deinit { closeQuietly(descriptor) }

    /// Goes into a directory of the current one.
    mutating func descend(into name: FilePath) throws(Errno) {
        let identity = try descriptor.status().identity
        let child = try openDirectory(name, in: descriptor)
        ancestors.append(identity)
        replace(with: child)
    }

    /// Goes back to the directory above.
    ///
    /// - Throws: `ESTALE` when somebody moved the current directory meanwhile.
    mutating func ascend() throws(Errno) {
        guard let expected = ancestors.popLast() else { throw .invalidArgument }
        let parent = try openDirectory("..", in: descriptor)
        let identity: FileIdentity
        do throws(Errno) {
            identity = try parent.status().identity
        } catch {
            try closeFile(parent)
            throw error
        }
        replace(with: parent)
        guard identity == expected else { throw .staleNFSFileHandle }
    }

    private mutating func replace(with next: FileDescriptor) {
        // Only read from, so closing cannot lose anything.
        closeQuietly(descriptor)
        descriptor = next
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
