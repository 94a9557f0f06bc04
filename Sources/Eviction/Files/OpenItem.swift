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
    let descriptor: FileDescriptor

    /// Opens the file and takes the lease.
    ///
    /// If the permission bits do not let the owner read and write, they are extended for the moment
    /// of opening and restored before this returns.
    ///
    /// - Parameter identity: the identity that the file must have.
    /// - Throws: `inUse` when another process has the file open, `changed` when the name leads to
    ///   another file.
    init(_ place: ItemPlace, identity: FileIdentity) throws(EvictionError) {
        self.place = place
        descriptor = try Patience().retry(while: { $0 == .inUse }) { () throws(EvictionError) in
            try Self.openAlone(place, identity: identity)
        }
    }

    deinit {
        // Callers synchronize explicitly what must not be lost.
        closeQuietly(descriptor)
    }

    private static func openAlone(
        _ place: ItemPlace, identity: FileIdentity
    ) throws(EvictionError) -> FileDescriptor {
        let descriptor = try open(place, identity: identity)
        do throws(EvictionError) {
            try lease(descriptor, place.path)
            return descriptor
        } catch {
            // Nothing was written yet.
            closeQuietly(descriptor)
            throw error
        }
    }

    private static func open(
        _ place: ItemPlace, identity: FileIdentity
    ) throws(EvictionError) -> FileDescriptor {
        let reference = OwnedDescriptor(
            try attempt(place.path) { () throws(Errno) in
                try openReference(place.name, in: place.directory)
            })
        let status = try attempt(place.path) { () throws(Errno) in
            try reference.descriptor.status()
        }
        guard status.kind == .regularFile, status.identity == identity else { throw .changed }
        do throws(Errno) {
            return try reopenForWriting(reference.descriptor)
        } catch .permissionDenied {
            return try openAsOwner(reference.descriptor, status, place.path)
        } catch .resourceTemporarilyUnavailable, .textFileBusy {
            throw .inUse
        } catch {
            throw .file(.opening(error, place.path))
        }
    }

    private static func openAsOwner(
        _ reference: FileDescriptor, _ status: FileStatus, _ path: FilePath
    ) throws(EvictionError) -> FileDescriptor {
        try attempt(path) { () throws(Errno) in
            try SystemCalls.setPermissions(
                status.permissions & 0o577 == 0 ? openingPermissions : status.permissions | 0o600,
                of: reference)
        }
        let opened: Result<FileDescriptor, Errno>
        do throws(Errno) {
            opened = .success(try reopenForWriting(reference))
        } catch {
            opened = .failure(error)
        }
        try attempt(path) { () throws(Errno) in
            try SystemCalls.setPermissions(status.permissions, of: reference)
        }
        do throws(Errno) {
            return try opened.get()
        } catch .resourceTemporarilyUnavailable, .textFileBusy {
            throw .inUse
        } catch {
            throw .file(.opening(error, path))
        }
    }

    private static func lease(
        _ descriptor: FileDescriptor, _ path: FilePath
    ) throws(EvictionError) {
        do throws(Errno) {
            try takeWriteLease(of: descriptor)
        } catch .resourceTemporarilyUnavailable {
            throw .inUse
        } catch .invalidArgument, .notSupported {
            throw .unsupportedFilesystem
        } catch .permissionDenied {
            throw .foreignOwner
        } catch {
            throw .file(.opening(error, path))
        }
    }

    /// Whether no other process has tried to open the file since the lease was taken.
    func isUndisturbed() throws(EvictionError) -> Bool {
        try attempt(place.path) { () throws(Errno) in try holdsWriteLease(of: descriptor) }
    }

    func status() throws(EvictionError) -> FileStatus {
        try attempt(place.path) { () throws(Errno) in try descriptor.status() }
    }

    /// Whether the file has any data, by `lseek(2)` with `SEEK_DATA`.
    func hasData() throws(EvictionError) -> Bool {
        try attempt(place.path) { () throws(Errno) in
            try seekFile(descriptor, toNext: .data, from: 0) != nil
        }
    }

    func synchronize() throws(EvictionError) {
        try attempt(place.path) { () throws(Errno) in try SystemCalls.synchronize(descriptor) }
    }

    func setPermissions(_ permissions: UInt16) throws(EvictionError) {
        try attempt(place.path) { () throws(Errno) in
            try changeMode(permissions, of: descriptor)
        }
    }

    /// Returns the record on the file; nil for an ordinary file.
    func evictionRecord() throws(EvictionError) -> EvictionRecord? {
        try journaling { () throws(FileError) in try descriptor.evictionRecord() }
    }

    /// Writes the record in place of any other, or removes all records.
    ///
    /// - Parameter permissions: the permission bits to set; 0 for a file without its content. The
    ///   owner's write bit is added, because the record cannot be changed without it, and stays set.
    func setEvictionRecord(
        _ record: EvictionRecord?, permissions: UInt16
    ) throws(EvictionError) {
        let others = try journaling { () throws(FileError) in
            try descriptor.extendedAttributeNames().filter {
                EvictionRecord(attribute: $0.bytes) != nil && $0 != record?.attribute
            }
        }
        try setPermissions(permissions | 0o200)
        try journaling { () throws(FileError) in
            for name in others { try descriptor.removeExtendedAttribute(named: name) }
            guard let record else { return }
            try descriptor.setExtendedAttribute(named: record.attribute, to: Array("1".utf8))
        }
    }

    func setModificationTime(_ time: FileTime) throws(EvictionError) {
        try attempt(place.path) { () throws(Errno) in
            try SystemCalls.setModificationTime(time, of: descriptor)
        }
    }

    /// Frees all blocks, including the whole last one; the size is unchanged.
    func punch(size: Int64) throws(EvictionError) {
        let block: Int64 = 1 << 16
        let blocks = size / block + (size % block > 0 ? 1 : 0)
        do throws(Errno) {
            try punchHole(in: descriptor, at: 0, length: blocks.multipliedSaturating(by: block))
        } catch .notSupported, .noFunction {
            throw .unsupportedFilesystem
        } catch .textFileBusy {
            throw .inUse
        } catch {
            throw .file(.changingItem(error, place.path))
        }
    }

    /// Returns the hash of the content, with holes read as zeros; nil when the work was stopped.
    ///
    /// - Parameter shouldStop: called before each read; returning true stops the work.
    func hash(shouldStop: () -> Bool = { false }) throws(EvictionError) -> ContentHash? {
        try ContentHasher.hash(of: descriptor, place.path, shouldStop: shouldStop)
    }
}

extension ContentHasher {
    /// Returns the hash of an open file's content; nil when the work was stopped.
    static func hash(
        of descriptor: FileDescriptor, _ path: FilePath, shouldStop: () -> Bool
    ) throws(EvictionError) -> ContentHash? {
        var hasher = ContentHasher()
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { chunk.deallocate() }
        while !shouldStop() {
            let offset = hasher.count
            let count = try attempt(path) { () throws(Errno) in
                try readFile(descriptor, at: offset, into: chunk)
            }
            if count == 0 { return hasher.finish() }
            hasher.update(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
        }
        return nil
    }
}
