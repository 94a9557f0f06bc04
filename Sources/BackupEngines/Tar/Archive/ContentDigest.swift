import BackupPlanning
import Eviction
import SystemCalls

/// The SHA-256 of content that arrives in pieces, with holes between them.
///
/// Either holes are hashed as zeros, so that the digest is that of the whole content, or they are skipped
/// and each run of data is followed by its offset and its length, with 16 hexadecimal digits each. Such a
/// digest takes no longer for holes of any size. Two files have the same only if both their data and
/// its places are the same; a hole differs from zeros.
struct ContentDigest {
    /// The most bytes of holes that are hashed when a file is stored: a fraction of a second, for which
    /// the manifest has a digest that every program can compute.
    static let largestHashedHoles: Int64 = 64 << 20

    /// Whether holes are skipped.
    let skipsHoles: Bool
    /// Called repeatedly while holes are hashed; returns true to stop.
    let isCancelled: () -> Bool
    private var digest = SHA256()
    /// Where the last piece ended.
    private var offset: Int64 = 0
    private var holes: Int64 = 0
    /// Where the last run of data begins, if holes are skipped.
    private var start: Int64 = 0
    private static let zeros = [UInt8](repeating: 0, count: 1 << 16)

    init(skipsHoles: Bool = false, isCancelled: @escaping () -> Bool) {
        self.skipsHoles = skipsHoles
        self.isCancelled = isCancelled
    }

    /// Adds a piece.
    ///
    /// - Parameter start: the offset of the piece; not before the end of the last one.
    /// - Throws: as ``finish(size:)``.
    mutating func update(_ bytes: UnsafeRawBufferPointer, at start: Int64) throws {
        if bytes.isEmpty { return }
        try passHole(to: start)
        digest.update(bytes)
        offset.addSaturating(Int64(bytes.count))
    }

    /// Returns the digest of `size` bytes, in hexadecimal.
    ///
    /// - Throws: ``ArchiveFailure`` when holes are hashed and are larger than those of any file that is
    ///   ever stored, `CancellationError`.
    mutating func finish(size: Int64) throws -> String {
        try passHole(to: size)
        if skipsHoles { endRun() }
        return digest.finish()
    }

    private mutating func passHole(to end: Int64) throws {
        guard end > offset else { return }
        if skipsHoles {
            endRun()
            (start, offset) = (end, end)
        } else {
            try hashZeros(to: end)
        }
    }

    private mutating func endRun() {
        guard offset > start else { return }
        for number in [start, offset - start] {
            let digits = String(number, radix: 16)
            digest.update(Array((String(repeating: "0", count: 16 - digits.count) + digits).utf8))
        }
        start = offset
    }

    private mutating func hashZeros(to end: Int64) throws {
        holes.addSaturating(end.subtractingSaturating(offset))
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
