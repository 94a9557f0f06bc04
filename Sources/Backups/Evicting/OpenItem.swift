import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// A leased file: open for reading and writing, whatever its permission bits.
///
/// No other process has the file open during the lifetime of this object. The permission bits are
/// those that the file had, unless they were changed with ``setPermissions(_:)`` or
/// ``setEvictionRecord(_:permissions:)``.
final class OpenItem: Sendable {
    let place: ItemPlace
    private let file: SharedDescriptor
    /// When the lease was last seen without another process that waits for it.
    private let lastUndisturbed = Monitor(monotonicTime())
    var descriptor: FileDescriptor { file.descriptor }

    /// If the permission bits do not let the owner read and write, they are extended for the moment
    /// of opening and restored before this returns. The sticky bit shows what a kill leaves.
    ///
    /// - Parameter identity: the identity that the file must have.
    /// - Throws: `inUse` when another process has the file open, `changed` when the name leads to
    ///   another file.
    init(_ place: ItemPlace, identity: FileIdentity) throws {
        self.place = place
        file = try Patience().retry(while: { EvictionError($0, at: place.path) == .inUse }) {
            let file = SharedDescriptor(try Self.open(place, identity: identity))
            try Self.lease(file.descriptor)
            return file
        }
    }

    private static func open(
        _ place: ItemPlace, identity: FileIdentity
    ) throws -> FileDescriptor {
        let reference = OwnedDescriptor(try openReference(place.name, in: place.directory))
        let status = try reference.descriptor.status()
        guard status.kind == .regularFile, status.identity == identity else {
            throw EvictionError.changed
        }
        return try openForWriting(reference.descriptor, status)
    }

    private static func openForWriting(
        _ reference: FileDescriptor, _ status: FileStatus
    ) throws(Errno) -> FileDescriptor {
        do throws(Errno) {
            return try reopenForWriting(reference)
        } catch .permissionDenied {
            try SystemCalls.setPermissions(status.permissions | openingPermissions, of: reference)
            let opened = Result { () throws(Errno) in try reopenForWriting(reference) }
            try SystemCalls.setPermissions(status.permissions, of: reference)
            return try opened.get()
        }
    }

    private static func lease(_ descriptor: FileDescriptor) throws {
        do throws(Errno) {
            try takeWriteLease(of: descriptor)
        } catch .invalidArgument {
            throw EvictionError.unsupportedFilesystem
        } catch .permissionDenied {
            throw EvictionError.foreignOwner
        }
    }

    /// Whether no other process has tried to open the file since the lease was taken.
    func isUndisturbed() throws(Errno) -> Bool { try holdsWriteLease(of: descriptor) }

    /// Verifies that no other process has the file open. One may wait for the lease, but not for as long as
    /// the kernel lets it wait.
    ///
    /// - Throws: ``EvictionError`` `inUse`.
    func requireAlone() throws {
        let now = monotonicTime()
        if try isUndisturbed() { return lastUndisturbed.withLock { $0 = now } }
        // The kernel does not tell a lease that is waited for from one that it has broken.
        let text = try contentsOfFile("/proc/sys/fs/lease-break-time").prefix { $0 > 0x20 }
        let time = Duration.seconds(Int(String(decoding: text, as: UTF8.self)) ?? 0)
        guard now - lastUndisturbed.withLock({ $0 }) < time / 2 else { throw EvictionError.inUse }
    }

    func hasData() throws(Errno) -> Bool {
        try seekFile(descriptor, toNext: .data, from: 0) != nil
    }

    func setPermissions(_ permissions: UInt16) throws(Errno) {
        try changeMode(permissions, of: descriptor)
    }

    /// Frees all blocks, including the whole last one; the size is unchanged.
    func punch(size: Int64) throws(Errno) {
        let block: Int64 = 1 << 16
        let blocks = size / block + (size % block > 0 ? 1 : 0)
        try punchHole(in: descriptor, at: 0, length: blocks.multipliedSaturating(by: block))
    }

    /// Returns the hash of the content, with holes read as zeros; nil when the work was stopped.
    func hash(shouldStop: () -> Bool = { false }) throws(Errno) -> ContentHash? {
        try ContentHash(of: descriptor, shouldStop: shouldStop)
    }
}

// The record, and the steps that begin and end an eviction and a download.
extension OpenItem {
    func evictionRecord() throws(FileError) -> EvictionRecord? {
        try descriptor.named(place.path).evictionRecord()
    }

    /// Writes the record in place of any other.
    ///
    /// - Parameter permissions: the file's permission bits. The owner's write bit is lent to a file
    ///   without it, because the record cannot be changed otherwise, and stays.
    func setEvictionRecord(_ record: EvictionRecord, permissions: UInt16) throws {
        try lendWriteBit(permissions)
        try removeEvictionRecords(except: record.attribute)
        try descriptor.named(place.path).setExtendedAttribute(
            named: record.attribute, to: Array("1".utf8))
    }

    /// Gives the file its permission bits back, and removes all records as the last step but that of
    /// a write bit that was only lent.
    func removeEvictionRecords(permissions: UInt16) throws {
        try lendWriteBit(permissions)
        try removeEvictionRecords()
        try setPermissions(permissions)
    }

    private func lendWriteBit(_ permissions: UInt16) throws(Errno) {
        let isWritable = permissions & 0o200 != 0
        try setPermissions(isWritable ? permissions : permissions | lentPermissions)
    }

    private func removeEvictionRecords(except kept: ExtendedAttributeName? = nil) throws {
        let file = descriptor.named(place.path)
        for name in try file.extendedAttributeNames()
        where name != kept && EvictionRecord(attribute: name.bytes) != nil {
            try file.removeExtendedAttribute(named: name)
        }
    }

    /// Turns a file without data into a placeholder.
    ///
    /// - Returns: the allocated size that remains, in bytes.
    /// - Throws: ``EvictionError``: `unfinished` when the file still has data, or another size or time.
    @discardableResult
    func settle(_ record: EvictionRecord, size: Int64) throws -> Int64 {
        // Only a file that has its time may have no permission bits.
        try setModificationTime(record.modified, of: descriptor)
        try setPermissions(0)
        try synchronize(descriptor)
        let status = try descriptor.status()
        guard try !hasData(), status.size == size,
            record.hasTime(of: status)
        else { throw EvictionError.unfinished }
        return status.allocatedSize
    }

    /// Gives a whole file its time and permission bits back, and removes its record.
    func finish(_ record: EvictionRecord) throws {
        try setModificationTime(record.modified, of: descriptor)
        // The content is on the disk before anything else says that it is.
        try synchronize(descriptor)
        try removeEvictionRecords(permissions: record.permissions)
        try synchronize(descriptor)
    }
}

/// A file's name and its open directory, reached by a path without symbolic links.
final class ItemPlace: Sendable {
    let path: FilePath
    let name: FilePath
    private let owned: OwnedDescriptor

    var directory: FileDescriptor { owned.descriptor }

    /// - Parameter path: absolute, as `realPath(of:)` returns it; a symbolic link in the path of the
    ///   directory is an error.
    init(_ path: FilePath) throws {
        guard let last = path.lastComponent, last.kind == .regular, path.isAbsolute else {
            throw FileError.opening(.invalidArgument, path)
        }
        self.path = path
        name = FilePath(root: nil, [last])
        owned = OwnedDescriptor(
            try openDirectoryReferenceWithoutLinks(path.removingLastComponent()))
    }

    var location: DirectoryEntryLocation {
        DirectoryEntryLocation(directory: directory, name: name, pathForMessages: path)
    }
}
