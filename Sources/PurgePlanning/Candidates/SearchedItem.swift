import FileTree
import SystemCalls
import SystemPackage

/// An item that the rules of the search are applied to: an entry of its walk, or one that is
/// examined again before it is deleted.
protocol SearchedItem: FileLocation, ~Copyable {
    /// The number of levels below the root of the search.
    var depth: Int { get }
    /// The absolute path.
    var path: FilePath { get }
    /// The name's bytes; for a root, the whole path.
    var nameBytes: [UInt8] { get }

    /// Calls `body` with the name's bytes.
    func withName<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result

    /// Appends the path's bytes to a buffer.
    func appendPath(to bytes: inout [UInt8])

    /// Returns the status without waiting for a server or a FUSE program.
    func statusAtHand() throws(Errno) -> FileStatus

    /// Whether the item may have extended attributes.
    func hasExtendedAttributes() throws(Errno) -> Bool
}

extension TreeEntry: SearchedItem {}

extension SearchedItem where Self: ~Copyable {
    /// Calls `body` with the name; for a root, with the last component of its path.
    func withLastName<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withName { name in
            guard depth == 0, let slash = name.lastIndex(of: UInt8(ascii: "/"))
            else { return body(name) }
            return body(UnsafeRawBufferPointer(rebasing: name[(slash + 1)...]))
        }
    }
}

func pathBytes(of entry: borrowing some SearchedItem & ~Copyable) -> [UInt8] {
    var bytes: [UInt8] = []
    entry.appendPath(to: &bytes)
    return bytes
}

/// Whether a directory has an entry of that name; true also when that cannot be determined.
///
/// Looks it up by path, which is right while the directory has its own name. A directory that was
/// moved aside was checked under its own name before, and must not have changed since.
///
/// - Parameter directory: the directory's path with a trailing slash.
func hasEntry(_ name: [UInt8], in directory: ArraySlice<UInt8>) -> Bool {
    do throws(Errno) {
        _ = try FilePath(bytes: directory + name).withoutFollowing.status()
        return true
    } catch {
        return error != .noSuchFileOrDirectory
    }
}

/// An item that was opened to be examined, as the rules of the search see it.
struct ReachedItem: SearchedItem {
    let file: OpenedFile
    let depth: Int
    private let bytes: [UInt8]

    /// - Parameters:
    ///   - path: its absolute path.
    ///   - depth: the number of levels below the root of the search.
    init(_ file: OpenedFile, path: [UInt8], depth: Int) {
        self.file = file
        self.depth = depth
        bytes = path
    }

    var path: FilePath { FilePath(bytes: bytes) }
    var pathForMessages: FilePath? { path }
    var nameBytes: [UInt8] { withName { Array($0) } }

    func withName<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { bytes in
            guard depth > 0, let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else {
                return body(bytes)
            }
            return body(UnsafeRawBufferPointer(rebasing: bytes[(slash + 1)...]))
        }
    }

    func appendPath(to bytes: inout [UInt8]) { bytes += self.bytes }

    /// Always true: reading them takes no more calls than finding out.
    func hasExtendedAttributes() -> Bool { true }

    /// Resolves to the open file, whatever has its name now.
    func lookUp(_ body: (CallTarget) throws(Errno) -> Void) throws(Errno) {
        try file.descriptor.lookUp(body)
    }
}

extension OpenDirectory {
    /// Opens a directory in this one for reading, without following symbolic links or crossing
    /// mount points. Reading preserves its access time where permitted.
    func openToRead(_ name: FilePath) throws(Errno) -> OpenDirectory {
        OpenDirectory(
            try openBeneathPreservingAccessTime(
                name, in: descriptor, flags: [.readOnly, .directory, .noFollow, .nonBlocking]))
    }
}
