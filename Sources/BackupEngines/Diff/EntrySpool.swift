import ResourceValues
import SystemCalls
import SystemPackage

/// A snapshot's entries in an unnamed file, so that two snapshots can be read side by side in
/// little memory. Nothing is left behind when this process is killed.
final class EntrySpool: Sendable {
    private let file: OwnedDescriptor

    /// Creates an empty spool.
    ///
    /// - Throws: ``BackupError`` when no file can be created in `/var/tmp` or `/tmp`.
    init() throws(BackupError) {
        var failure = Errno.notSupported
        let bases: [FilePath] = ["/var/tmp", "/tmp"]
        let roomy = bases.filter(hasTemporaryRoom)
        for directory in roomy + bases.filter({ !roomy.contains($0) }) {
            do throws(Errno) {
                let parent = OwnedDescriptor(try openDirectoryReference(directory))
                if let file = try makeUnnamedFile(in: parent.descriptor, permissions: 0o600) {
                    self.file = OwnedDescriptor(file)
                    return
                }
            } catch {
                failure = error
            }
        }
        throw BackupError(
            .other, "no file for a snapshot's entries can be made in /var/tmp or /tmp: \(failure)")
    }

    fileprivate func append(_ bytes: [UInt8]) throws(BackupError) {
        let outcome = bytes.withUnsafeBytes { buffer in
            Result { () throws(Errno) in try writeFile(file.descriptor, buffer) }
        }
        guard case .failure(let error) = outcome else { return }
        throw BackupError(
            error == .noSpace ? .noSpace : .other, "a snapshot's entries cannot be kept: \(error)",
            advice: "make room in /var/tmp")
    }

    fileprivate func read(
        at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(BackupError) -> Int {
        do throws(Errno) {
            return try readFile(file.descriptor, at: offset, into: buffer)
        } catch {
            throw BackupError(.other, "a snapshot's entries cannot be read again: \(error)")
        }
    }
}

/// Writes a snapshot's entries to a spool.
struct SpoolWriter: SnapshotEntryHandler {
    private let spool: EntrySpool
    private var pending: [UInt8] = []

    init(_ spool: EntrySpool) { self.spool = spool }

    mutating func receive(_ entry: SnapshotEntry) throws(BackupError) {
        append(UInt64(entry.path.count))
        append(UInt64(bitPattern: entry.size))
        append(UInt64(bitPattern: entry.modified.seconds))
        append(UInt64(entry.modified.nanoseconds))
        append(UInt64(entry.permissions))
        append(UInt64(FileKind.spooled.firstIndex(of: entry.kind) ?? 0))
        pending += entry.path
        if pending.count > 1 << 18 { try flush() }
    }

    /// Writes the pending entries.
    mutating func flush() throws(BackupError) {
        try spool.append(pending)
        pending.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { pending.append(contentsOf: $0) }
    }
}

/// Reads a spool's entries in order.
struct SpoolReader: Sendable {
    private let spool: EntrySpool
    private var offset: Int64 = 0
    private var bytes: [UInt8] = []
    private var next = 0

    private static let headLength = 48

    init(_ spool: EntrySpool) { self.spool = spool }

    /// Returns the next entry; nil after the last one.
    mutating func entry() throws(BackupError) -> SnapshotEntry? {
        guard try has(Self.headLength) else { return nil }
        let length = Int(number())
        let size = Int64(bitPattern: number())
        let seconds = Int64(bitPattern: number())
        let nanoseconds = UInt32(number())
        let permissions = UInt16(number())
        let kind = FileKind.spooled[Int(number())]
        guard try has(length) else { return nil }
        let path = Array(bytes[next..<(next + length)])
        next += length
        return SnapshotEntry(
            path: path, kind: kind, size: size,
            modified: FileTime(seconds: seconds, nanoseconds: nanoseconds),
            permissions: permissions)
    }

    /// Whether this many bytes are left; if so, they are in memory.
    private mutating func has(_ count: Int) throws(BackupError) -> Bool {
        if bytes.count - next >= count { return true }
        bytes.removeFirst(next)
        next = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while bytes.count < count {
            let got = buffer.withUnsafeMutableBytes { buffer in
                Result { () throws(BackupError) in try spool.read(at: offset, into: buffer) }
            }
            let length = try got.get()
            if length == 0 { return false }
            bytes += buffer[..<length]
            offset += Int64(length)
        }
        return true
    }

    private mutating func number() -> UInt64 {
        let value = bytes[next..<(next + 8)].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        next += 8
        return value
    }
}

extension FileKind {
    /// The kinds; a spool stores the index in this array.
    fileprivate static let spooled: [FileKind] = [
        .unknown, .regularFile, .directory, .symbolicLink, .fifo, .socket, .characterDevice,
        .blockDevice,
    ]
}
