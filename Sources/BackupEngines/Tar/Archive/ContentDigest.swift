import BackupPlanning
import Eviction
import SystemCalls

/// The SHA-256 of content that arrives in pieces, with holes between them.
struct ContentDigest {
    /// Called repeatedly while holes are hashed; returns true to stop.
    let isCancelled: () -> Bool
    private var digest = SHA256()
    private var offset: Int64 = 0
    private var holes: Int64 = 0
    private static let zeros = [UInt8](repeating: 0, count: 1 << 16)

    init(isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }

    /// Adds a piece.
    ///
    /// - Parameter start: the offset of the piece; not before the end of the last one.
    /// - Throws: as ``finish(size:)``.
    mutating func update(_ bytes: UnsafeRawBufferPointer, at start: Int64) throws {
        try fill(to: start)
        digest.update(bytes)
        offset.addSaturating(Int64(bytes.count))
    }

    /// Returns the digest of `size` bytes, in hexadecimal.
    ///
    /// - Throws: ``ArchiveFailure`` when the holes are larger than those of any file that is ever
    ///   stored, `CancellationError`.
    mutating func finish(size: Int64) throws -> String {
        try fill(to: size)
        return digest.finish()
    }

    private mutating func fill(to end: Int64) throws {
        holes.addSaturating(max(0, end.subtractingSaturating(offset)))
        guard holes <= largestHoles else {
            throw ArchiveFailure("contains a file whose holes are too large")
        }
        while offset < end {
            if isCancelled() { throw CancellationError() }
            let count = Int(min(end - offset, Int64(Self.zeros.count)))
            Self.zeros.withUnsafeBytes {
                digest.update(UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            offset += Int64(count)
        }
    }
}
