import SystemCalls
import SystemPackage

/// Copies the content of files into an archive, and computes its digest.
final class ArchiveContent {
    private let writer: ArchiveWriter
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)
    private let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)

    /// The outcome of copying one file's content.
    struct Outcome {
        /// The number of bytes.
        let size: Int64
        /// The digest of what is in the archive.
        let digest: String
        /// Whether the digest skips holes.
        let skipsHoles: Bool
        /// Why the content is not complete; in the archive, zeros replace what is missing.
        let shortage: Shortage?
    }

    /// The reason why a file's content is not complete.
    enum Shortage {
        /// The file ended before its size was reached.
        case ended
        /// It could not be read.
        case unreadable(Errno)
    }

    init(_ writer: ArchiveWriter) {
        self.writer = writer
        zeros.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        buffer.deallocate()
        zeros.deallocate()
    }

    /// Copies a file's content into the current entry.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - size: the size the entry was begun with, in bytes.
    ///   - regions: the regions that contain data; nil when the whole file does.
    ///   - report: called with the number of bytes of each piece; returns true to stop.
    /// - Throws: ``ArchiveFailure``; `CancellationError` when stopped.
    func copy(
        _ file: SharedDescriptor, size: Int64, regions: [Range<Int64>]?,
        report: (Int) -> Bool
    ) throws -> Outcome {
        let regions = regions ?? [0..<size]
        let skipsHoles = holes(between: regions, size) > ContentDigest.largestHashedHoles
        var digest = ContentDigest(skipsHoles: skipsHoles) { false }
        var shortage: Shortage?
        var offset: Int64 = 0
        for region in regions {
            try skip(region.lowerBound - offset, report)
            offset = region.lowerBound
            while offset < region.upperBound {
                let wanted = Int(min(Int64(buffer.count), region.upperBound - offset))
                var piece = UnsafeRawBufferPointer(rebasing: zeros[..<wanted])
                if shortage == nil {
                    do throws(Errno) {
                        let count = try read(file, at: offset, wanted)
                        if count == 0 { shortage = .ended }
                        if count > 0 { piece = UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
                    } catch {
                        shortage = .unreadable(error)
                    }
                }
                try digest.update(piece, at: offset)
                try append(piece, report)
                offset += Int64(piece.count)
            }
        }
        try skip(size - offset, report)
        return Outcome(
            size: size, digest: try digest.finish(size: size), skipsHoles: skipsHoles,
            shortage: shortage)
    }

    /// Reads a file's content again, and returns whether the file begins with what is in the archive.
    ///
    /// - Parameter report: called with the number of bytes of each piece; returns true to stop.
    /// - Returns: false when the file cannot be read, too.
    /// - Throws: `CancellationError` when stopped.
    func isBeginning(
        _ outcome: Outcome, of file: SharedDescriptor, _ status: FileStatus,
        report: (Int) -> Bool
    ) throws -> Bool {
        guard status.size >= outcome.size else { return false }
        let regions: [Range<Int64>]
        do throws(Errno) {
            regions = try dataRegions(of: file.descriptor, status) ?? [0..<status.size]
        } catch {
            return false
        }
        let stored = regions.map { $0.clamped(to: 0..<outcome.size) }
        // Hashing larger holes would take longer than storing the file again.
        guard
            outcome.skipsHoles
                || holes(between: stored, outcome.size) <= ContentDigest.largestHashedHoles
        else { return false }
        var digest = ContentDigest(skipsHoles: outcome.skipsHoles) { false }
        for region in stored {
            var offset = region.lowerBound
            let end = region.upperBound
            while offset < end {
                let wanted = Int(min(Int64(buffer.count), end - offset))
                guard let count = try? read(file, at: offset, wanted), count > 0 else {
                    return false
                }
                try digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
                if report(count) { throw CancellationError() }
                offset += Int64(count)
            }
        }
        return try digest.finish(size: outcome.size) == outcome.digest
    }

    private func read(
        _ file: SharedDescriptor, at offset: Int64, _ count: Int
    ) throws(Errno) -> Int {
        try readFile(
            file.descriptor, at: offset,
            into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    }

    private func holes(between regions: [Range<Int64>], _ size: Int64) -> Int64 {
        regions.reduce(size) { $0 - Int64($1.count) }
    }

    /// Passes over a hole. libarchive counts the bytes and looks at none of them.
    private func skip(_ count: Int64, _ report: (Int) -> Bool) throws {
        guard count > 0 else { return }
        // The fewer calls, the better: a hole may have terabytes.
        let isLarge = count > 1 << 30
        let piece =
            isLarge
            ? UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 24, alignment: 4096) : zeros
        if isLarge { piece.initializeMemory(as: UInt8.self, repeating: 0) }
        defer { if isLarge { piece.deallocate() } }
        var rest = count
        while rest > 0 {
            let wanted = Int(min(Int64(piece.count), rest))
            try append(UnsafeRawBufferPointer(rebasing: piece[..<wanted]), report)
            rest -= Int64(wanted)
        }
    }

    private func append(_ piece: UnsafeRawBufferPointer, _ report: (Int) -> Bool) throws {
        try writer.append(piece)
        if report(piece.count) { throw CancellationError() }
    }
}
