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
