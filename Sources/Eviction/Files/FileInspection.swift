import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// A file that passed the checks for eviction.
package struct EvictionCandidate: Sendable, Hashable {
    /// The absolute path without symbolic links.
    package let path: FilePath
    /// The status at the time of the checks.
    package let status: FileStatus
}

extension EvictionCandidate {
    /// Reads the content, for the record of the snapshot that will contain it.
    ///
    /// - Parameter shouldStop: called before each read; returning true stops the work.
    /// - Returns: the hash, and the number of bytes outside holes; nil when the work was stopped.
    /// - Throws: ``EvictionError``: `inUse`, `changed` and others.
    package func measure(
        shouldStop: () -> Bool
    ) throws -> (content: ContentHash, dataBytes: Int64)? {
        let file = OwnedDescriptor(try open())
        guard try file.descriptor.status().identity == status.identity else {
            throw EvictionError.changed
        }
        let data = try countData(file.descriptor)
        let hash = try ContentHash(of: file.descriptor, shouldStop: shouldStop)
        return hash.map { ($0, data) }
    }

    private func open() throws -> FileDescriptor {
        do throws(Errno) {
            return try openFile(
                path.withoutFollowing, flags: [.readOnly, .noFollow, .nonBlocking, .noTerminal])
        } catch .resourceTemporarilyUnavailable {
            throw EvictionError.inUse
        }
    }

    private func countData(_ file: FileDescriptor) throws(Errno) -> Int64 {
        var total: Int64 = 0
        var offset: Int64 = 0
        while let start = try seekFile(file, toNext: .data, from: offset) {
            offset = try seekFile(file, toNext: .hole, from: start) ?? status.size
            guard offset > start else { break }
            total.addSaturating(offset - start)
        }
        return total
    }
}

extension Journal {
    /// Checks whether a file can be evicted, without changing anything.
    ///
    /// Finding the file's blocks opens it, which would break the lease of a process that is evicting
    /// it. Such a process has the lock of its record, so that lock is taken first where there are
    /// locks.
    ///
    /// - Parameter path: absolute, without symbolic links.
    /// - Throws: ``EvictionError``: the reason why the file cannot be evicted, also `inUse`.
    package func candidate(at path: FilePath) throws -> EvictionCandidate {
        var lock: SharedDescriptor?
        if try hasLocks {
            lock = try self.lock(path.withoutFollowing.fileStatus().identity)
            guard lock != nil else { throw EvictionError.inUse }
        }
        defer { withExtendedLifetime(lock) {} }
        return try inspect(path)
    }

    /// Does the same as ``candidate(at:)`` for a caller that has the lock.
    func inspect(_ path: FilePath) throws -> EvictionCandidate {
        let place = try ItemPlace(path)
        let status = try place.location.fileStatus()
        try checkKind(status)
        switch try EvictionSign(of: place.location, status) {
        case .placeholder, .exposed: throw EvictionError.alreadyEvicted
        case .unfinished: throw EvictionError.unfinished
        case .stale, .unrecorded, nil: break
        }
        // An unfinished file may have the sticky bit.
        if status.permissions & 0o7000 != 0 { throw EvictionError.specialBits }
        let known = try record(of: status, at: path)
        if let known, known.size == status.size {
            switch known.state {
            case .evicted where known.hasSizeAndTime(of: status):
                let isLeft = status.allocatedSize <= known.remainingBytes ?? 0
                if isLeft { throw EvictionError.alreadyEvicted }
            case .punching, .downloading: throw EvictionError.unfinished
            case .evicted, .held: break
            }
        }
        guard status.size > 0, status.allocatedSize > 0 else { throw EvictionError.nothingToFree }
        try checkBlocks(of: place, status)
        return EvictionCandidate(path: path, status: status)
    }

    private func checkKind(_ status: FileStatus) throws(EvictionError) {
        guard status.kind == .regularFile else { throw .notRegular }
        guard status.owner == effectiveUser() else { throw .foreignOwner }
        guard status.linkCount == 1 else { throw .hardLinked(status.linkCount) }
        if status.isImmutable { throw .sealed("immutable (chattr -i)") }
        if status.isAppendOnly { throw .sealed("append-only (chattr -a)") }
        if status.isVerity { throw .sealed("sealed by fs-verity") }
    }

    private func checkBlocks(of place: ItemPlace, _ status: FileStatus) throws {
        let extents: FileExtents?
        do throws(Errno) {
            extents = try fileExtents(of: place.location, size: status.size)
        } catch .resourceTemporarilyUnavailable {
            throw EvictionError.inUse
        }
        if extents?.isShared == true { throw EvictionError.sharedBlocks }
        if try hasCapabilities(place.location) { throw EvictionError.capabilities }
        guard try canPunch(in: place) else { throw EvictionError.unsupportedFilesystem }
    }

    private func hasCapabilities(_ location: DirectoryEntryLocation) throws(FileError) -> Bool {
        do throws(FileError) {
            return try location.extendedAttribute(named: "security.capability") != nil
        } catch  where error.code == .unsupportedFilesystem {
            return false
        }
    }

    /// Whether the filesystem can free blocks and `SEEK_DATA` reports them as holes, tested on an
    /// unnamed file.
    private func canPunch(in place: ItemPlace) throws(Errno) -> Bool {
        do throws(Errno) {
            guard let file = try makeUnnamedFile(in: place.directory, permissions: 0o600) else {
                return false
            }
            let trial = OwnedDescriptor(file)
            let zeros = [UInt8](repeating: 1, count: 8192)
            let written = zeros.withUnsafeBytes { bytes in
                Result { () throws(Errno) in try writeFile(file, bytes) }
            }
            try written.get()
            try punchHole(in: trial.descriptor, at: 0, length: 1 << 16)
            return try seekFile(trial.descriptor, toNext: .data, from: 0) == nil
        } catch .notSupported, .noFunction {
            return false
        } catch .noSpace, .diskQuotaExceeded {
            // Without space for the test, eviction may be tried: a refused punch changes nothing.
            return true
        }
    }
}
