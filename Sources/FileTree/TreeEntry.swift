import SystemCalls
import SystemPackage

/// An entry of a walk, while its directory is open.
///
/// As a ``FileLocation`` it directs system calls to the entry by its directory's descriptor and its
/// name: renaming or replacing an ancestor cannot redirect them, and the path may have any length.
public struct TreeEntry: ~Copyable, FileLocation {
    @usableFromInline let target: CallTarget
    /// The name, NUL-terminated; for a root the whole path, of which `target` may have only the
    /// end.
    let name: UnsafePointer<CChar>
    let nameLength: Int
    /// The length of the path before the name.
    let prefixLength: Int
    /// Kept alive by the worker, which outlives the entry; counting references to it for each entry
    /// would take a twentieth of what a walk takes outside the kernel.
    unowned(unsafe) let paths: PathBuffer
    /// The kind of file; for a root that is followed, the kind of its target.
    public let kind: FileKind
    /// The inode number from the directory; for a mount point, that of the directory beneath it.
    public let inode: UInt64
    /// The number of levels below the root: 0 for a root, 1 for its entries, and so on.
    public let depth: Int

    /// The name's bytes; for a root, the whole path as it was given.
    public var nameBytes: [UInt8] {
        withName { Array($0) }
    }

    /// The path: the root's as it was given, followed by the names below it.
    public var path: FilePath { FilePath(bytes: pathBytes) }

    /// The bytes of ``path``.
    package var pathBytes: [UInt8] {
        var bytes: [UInt8] = []
        appendPath(to: &bytes)
        return bytes
    }

    /// The length of ``path`` in bytes.
    public var pathLength: Int { prefixLength + nameLength }

    /// Appends the path's bytes to a buffer.
    public func appendPath(to bytes: inout [UInt8]) {
        if depth > 0 { bytes += paths.prefix }
        withName { bytes += $0 }
    }

    /// Calls `body` with the name's bytes, without copying them. They are valid only during the
    /// call.
    @inline(__always)
    public func withName<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: name, count: nameLength))
    }

    /// The path.
    public var pathForMessages: FilePath? { path }

    /// Returns the entry's status: `statx(2)`, without triggering an automount.
    ///
    /// - Throws: the call's errno.
    @inlinable
    public func status() throws(Errno) -> FileStatus { try readStatus(target) }

    /// Returns the entry's status without waiting for a server or the program behind a FUSE mount.
    @inlinable
    package func statusAtHand() throws(Errno) -> FileStatus {
        try readStatus(target, atHand: true)
    }

    /// Whether the entry has any extended attribute: one `listxattr(2)`.
    ///
    /// - Throws: the call's errno, unless the filesystem has no extended attributes.
    @inlinable
    public func hasExtendedAttributes() throws(Errno) -> Bool {
        try ExtendedAttributeCalls.haveAny(target)
    }

    /// Resolves to the entry, never through a symbolic link; a root may be followed.
    @inlinable
    public func lookUp(
        _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        try body(target)
    }
}

/// The path of the directory that a worker reads, built when first needed.
final class PathBuffer {
    private var makePrefix: () -> [UInt8] = { [] }
    private var built: [UInt8]?

    /// The directory's path with a trailing slash.
    var prefix: [UInt8] {
        if let built { return built }
        let prefix = makePrefix()
        built = prefix
        return prefix
    }

    func enter(_ makePrefix: @escaping () -> [UInt8]) {
        self.makePrefix = makePrefix
        built = nil
    }
}
