import CLinux
import SystemPackage

/// Reads entries of an open directory into a buffer: `getdents64(2)`.
///
/// - Returns: the number of bytes filled with `linux_dirent64` records; 0 at the end.
package func readDirectory(
    _ descriptor: FileDescriptor, into buffer: UnsafeMutableRawBufferPointer
) throws(Errno) -> Int {
    try perform(.getdents64) {
        linux_getdents64(descriptor.rawValue, buffer.baseAddress, buffer.count)
    }
}

extension Errno {
    /// The key of an encrypted file is not there (`ENOKEY`).
    package static var noKey: Errno { Errno(rawValue: ENOKEY) }
}

/// Makes sure that the names in an open directory are those that its owner gave: asks for encryption
/// policy and key (fscrypt), which needs no privilege.
///
/// - Throws: `ENOKEY` for an encrypted directory whose key is absent, or was removed while files are open.
package func requireKey(_ directory: FileDescriptor) throws(Errno) {
    if linux_is_locked(directory.rawValue) { throw .noKey }
}

/// Whether nothing can be known of what is at a path, because a directory above it is locked.
package func isLocked(above path: FilePath) -> Bool {
    var directory = path.lexicallyNormalized()
    while directory.removeLastComponent() {
        // Its name in a locked directory leads nowhere.
        guard let opened = try? OpenDirectory(at: directory, flags: .readOnly) else { continue }
        return linux_is_locked(opened.descriptor.rawValue)
    }
    return false
}

/// Calls `body` with the name of each entry of a directory, without `.` and `..`, until `body`
/// returns false.
package func forEachName(
    in directory: borrowing some FileLocation & ~Copyable, _ body: ([UInt8]) -> Bool
) throws(Errno) {
    try forEachEntry(in: directory) { name, _ in body(name) }
}

/// Returns the names of a directory's entries, as far as they can be read.
package func readableNames(
    in directory: borrowing some FileLocation & ~Copyable
) -> [[UInt8]] {
    var names: [[UInt8]] = []
    try? forEachName(in: directory) { name in
        names.append(name)
        return true
    }
    return names
}

/// Calls `body` with the name of each entry of a directory, without `.` and `..`, and whether it is
/// a directory, until `body` returns false. The second argument is nil where the filesystem does
/// not report the type.
package func forEachEntry(
    in directory: borrowing some FileLocation & ~Copyable, _ body: ([UInt8], Bool?) -> Bool
) throws(Errno) {
    let opened = OwnedDescriptor(try openFile(directory, flags: [.readOnly, .directory]))
    try forEachEntry(inOpen: opened.descriptor, body)
}

/// As ``forEachEntry(in:_:)``, from the current position of a directory open for reading.
package func forEachEntry(
    inOpen descriptor: FileDescriptor, _ body: ([UInt8], Bool?) -> Bool
) throws(Errno) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32768, alignment: 8)
    defer { buffer.deallocate() }
    while true {
        let count = try readDirectory(descriptor, into: buffer)
        if count == 0 { return }
        var records = DirectoryRecords(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        while let record = records.next() {
            let name = UnsafeRawBufferPointer(start: record.name, count: record.nameLength)
            guard body(Array(name), record.kind.map { $0 == .directory }) else { return }
        }
    }
}

/// The records in a buffer filled by `getdents64(2)`, without `.` and `..`.
///
/// The layout is that of `struct linux_dirent64`: inode (8 bytes), offset (8), record length (2),
/// kind (1), NUL-terminated name.
@frozen
package struct DirectoryRecords {
    @frozen
    package struct Record {
        package let inode: UInt64
        /// The kind of file; nil where the filesystem does not report it.
        package let kind: FileKind?
        package let name: UnsafePointer<CChar>
        package let nameLength: Int

        @inlinable @inline(__always)
        init(inode: UInt64, kind: FileKind?, name: UnsafePointer<CChar>) {
            self.inode = inode
            self.kind = kind
            self.name = name
            nameLength = strlen(name)
        }
    }

    @usableFromInline
    let base: UnsafeRawPointer
    @usableFromInline
    var offset = 0
    @usableFromInline
    let end: Int

    /// Creates an iterator over the records in a nonempty buffer.
    @inlinable @inline(__always)
    package init(_ bytes: UnsafeRawBufferPointer) {
        base = bytes.baseAddress.unsafelyUnwrapped
        end = bytes.count
    }

    @inlinable @inline(__always)
    package mutating func next() -> Record? {
        while offset < end {
            let record = base + offset
            offset += Int(record.loadUnaligned(fromByteOffset: 16, as: UInt16.self))
            let name = (record + 19).assumingMemoryBound(to: CChar.self)
            if isDotOrDotDot(name) { continue }
            return Record(
                inode: record.loadUnaligned(as: UInt64.self),
                kind: FileKind(directoryType: record.load(fromByteOffset: 18, as: UInt8.self)),
                name: name)
        }
        return nil
    }
}

@inlinable @inline(__always)
func isDotOrDotDot(_ name: UnsafePointer<CChar>) -> Bool {
    let dot = CChar(bitPattern: UInt8(ascii: "."))
    guard name[0] == dot else { return false }
    return name[1] == 0 || (name[1] == dot && name[2] == 0)
}

extension FileKind {
    /// Creates a kind from `d_type`; nil for `DT_UNKNOWN` and any other value without a case.
    @inlinable @inline(__always)
    package init?(directoryType: UInt8) {
        switch Int(directoryType) {
        case Int(DT_REG): self = .regularFile
        case Int(DT_DIR): self = .directory
        case Int(DT_LNK): self = .symbolicLink
        case Int(DT_FIFO): self = .fifo
        case Int(DT_SOCK): self = .socket
        case Int(DT_CHR): self = .characterDevice
        case Int(DT_BLK): self = .blockDevice
        default: return nil
        }
    }
}
