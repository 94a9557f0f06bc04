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
