import ResourceValues
import SystemCalls
import SystemPackage

/// Restores the holes of files: restic writes every zero.
struct HoleDigger {
    /// The unit of holes, in bytes: the block size of nearly every filesystem.
    private static let block = 4096
    private static let chunk = 256 * block

    /// Frees every block of zeros in a file. Its content, modification time and permissions stay.
    ///
    /// - Parameters:
    ///   - handle: a regular file, open with `O_PATH`.
    ///   - status: its status, read from this descriptor.
    /// - Throws: the errno of a call, except for filesystems without holes (`EOPNOTSUPP`), which
    ///   are ignored.
    static func dig(in handle: FileDescriptor, _ status: FileStatus) throws(Errno) {
        guard status.kind == .regularFile, status.size >= block, status.allocatedSize > 0 else {
            return
        }
        try whileWritable(handle, status) { () throws(Errno) in
            let file = OwnedDescriptor(try reopenFile(handle, flags: .readWrite))
            var isChanged = false
            do throws(Errno) {
                try dig(file.descriptor, &isChanged)
            } catch .notSupportedOnSocket {
                return
            }
            guard isChanged else { return }
            // A write by anyone but root clears the set-ID bits.
            if status.permissions & 0o6000 != 0 {
                try setPermissions(status.permissions, of: file.descriptor)
            }
            try setModificationTime(status.contentModificationTime, of: file.descriptor)
        }
    }

    private static func dig(
        _ file: FileDescriptor, _ isChanged: inout Bool
    ) throws(Errno) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk, alignment: 16)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while let data = try seekFile(file, toNext: .data, from: offset) {
            guard let end = try seekFile(file, toNext: .hole, from: data) else { return }
            offset = data - data % Int64(block)
            while offset < end {
                let count = try readFile(file, at: offset, into: buffer)
                if count == 0 { return }
                for zeros in zeroRuns(UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                    try punchHole(
                        in: file, at: offset + Int64(zeros.lowerBound), length: Int64(zeros.count))
                    isChanged = true
                }
                offset += Int64(count)
            }
        }
    }

    /// Returns the runs of blocks in a buffer that contain only zeros; a partial block at the end
    /// counts as a whole one.
    private static func zeroRuns(_ bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for start in stride(from: 0, to: bytes.count, by: block) {
            let part = bytes[start..<min(start + block, bytes.count)]
            guard isZero(UnsafeRawBufferPointer(rebasing: part)) else { continue }
            if let last = runs.last, last.upperBound == start {
                runs[runs.count - 1] = last.lowerBound..<(start + block)
            } else {
                runs.append(start..<(start + block))
            }
        }
        return runs
    }

    private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // Each byte equals the one before it.
        bytes.isEmpty
            || bytes[0] == 0
                && UnsafeRawBufferPointer(rebasing: bytes.dropLast())
                    .hasSameBytes(as: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
    }
}

/// Calls `body` while the owner may write to a file, and then restores the permissions.
///
/// - Parameter descriptor: the file; it may be open with `O_PATH`.
func whileWritable(
    _ descriptor: FileDescriptor, _ status: FileStatus, _ body: () throws(Errno) -> Void
) throws(Errno) {
    let ownerWrites: UInt16 = 0o200
    let isNeeded = status.permissions & ownerWrites == 0 && effectiveUser() != 0
    if isNeeded { try setPermissions(status.permissions | ownerWrites, of: descriptor) }
    let outcome = Result { () throws(Errno) in try body() }
    if isNeeded { try setPermissions(status.permissions, of: descriptor) }
    try outcome.get()
}
