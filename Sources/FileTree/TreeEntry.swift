import SystemCalls
import SystemPackage

/// One entry of a walk, while its directory is open.
///
/// As a ``FileLocation`` it leads system calls to the entry by its directory's descriptor and its
/// name: a renamed or replaced ancestor cannot lead them astray, and a path may have any length.
public struct TreeEntry: ~Copyable, FileLocation {
    @usableFromInline let target: CallTarget
    /// The name, NUL-ended; for a root the whole path, of which `target` may hold only the end.
    let name: UnsafePointer<CChar>
    let nameLength: Int
    let paths: PathBuffer
    /// The kind of file; what a root leads to, for a root that is followed.
    public let kind: FileKind
    /// The inode number as the directory tells it; for a mount point that of the directory beneath.
    public let inode: UInt64
    /// 0 for a root, 1 for its entries, and so on.
    public let depth: Int

    /// The name's bytes; the whole path as it was given for a root.
    public var nameBytes: [UInt8] {
        withName { Array($0) }
    }

    /// The path: the root's as it was given, and the names below it.
    public var path: FilePath {
        var bytes: [UInt8] = []
        appendPath(to: &bytes)
        return FilePath(bytes: bytes)
    }

    /// The length of ``path`` in bytes.
    public var pathLength: Int { (depth > 0 ? paths.prefix.count : 0) + nameLength }

    /// Appends the path's bytes to a buffer.
    public func appendPath(to bytes: inout [UInt8]) {
        if depth > 0 { bytes += paths.prefix }
        withName { bytes += $0 }
    }

    /// Calls `body` with the name's bytes, without a copy. They are valid only meanwhile.
    @inline(__always)
    public func withName<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: name, count: nameLength))
    }

    /// The path.
    public var pathForMessages: FilePath? { path }

    /// The entry's status: `statx(2)`, without starting an automount.
    ///
    /// - Throws: the call's errno.
    public func status() throws(Errno) -> FileStatus { try readStatus(target) }

    /// The entry's status without waiting for a server or the program behind a FUSE mount.
    package func statusAtHand() throws(Errno) -> FileStatus {
        try readStatusAtHand(target)
    }

    /// Whether the entry has any extended attribute: one `listxattr(2)`.
    ///
    /// - Throws: the call's errno, unless the filesystem has no extended attributes.
    public func hasExtendedAttributes() throws(Errno) -> Bool {
        do throws(Errno) {
            return try ExtendedAttributeCalls.listLength(target) > 0
        } catch .notSupported {
            return false
        }
    }

    /// Leads to the entry, never through a symbolic link; a root may be followed.
    @inlinable
    public func lookUp(
        _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        try body(target)
    }
}

/// The path of the directory a worker is in, built when first asked for.
final class PathBuffer {
    private var makePrefix: () -> [UInt8] = { [] }
    private var built: [UInt8]?

    /// The directory's path with a slash behind it.
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
