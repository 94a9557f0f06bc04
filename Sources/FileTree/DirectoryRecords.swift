import CLinux
import SystemCalls

/// The records that `getdents64(2)` filled a buffer with, without `.` and `..`.
///
/// The layout is that of `struct linux_dirent64`: inode (8 bytes), offset (8), record length (2),
/// kind (1), name with a NUL behind it.
struct DirectoryRecords {
    struct Record {
        let inode: UInt64
        /// nil where the filesystem does not tell.
        let kind: FileKind?
        let name: UnsafePointer<CChar>
        let nameLength: Int
    }

    private let base: UnsafeRawPointer
    private var offset = 0
    private let end: Int

    /// Records from the start of a slice that is not empty.
    @inline(__always)
    init(_ bytes: Slice<UnsafeRawBufferPointer>) {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        base = bytes.baseAddress.unsafelyUnwrapped
        end = bytes.count
    }

    @inline(__always)
    mutating func next() -> Record? {
        while offset < end {
            let record = base + offset
            offset += Int(record.loadUnaligned(fromByteOffset: 16, as: UInt16.self))
            let name = (record + 19).assumingMemoryBound(to: CChar.self)
            if isDotOrDotDot(name) { continue }
            return Record(
                inode: record.loadUnaligned(as: UInt64.self),
                kind: FileKind(directoryType: record.load(fromByteOffset: 18, as: UInt8.self)),
                name: name, nameLength: strlen(name))
        }
        return nil
    }
}

@inline(__always)
private func isDotOrDotDot(_ name: UnsafePointer<CChar>) -> Bool {
    let dot = CChar(bitPattern: UInt8(ascii: "."))
    guard name[0] == dot else { return false }
    return name[1] == 0 || (name[1] == dot && name[2] == 0)
}

extension FileKind {
    /// The kind that `d_type` tells; nil for `DT_UNKNOWN`.
    @inline(__always)
    init?(directoryType: UInt8) {
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
