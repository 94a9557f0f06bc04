import Eviction
import SystemCalls
import SystemPackage

/// Copies the content of files into an archive, and computes its digest.
final class ArchiveContent {
    private let writer: ArchiveWriter
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)
    private let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)

    /// The outcome of copying one file's content.
    struct Outcome {
        /// The SHA-256 of what is in the archive.
        let digest: String
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
        var digest = SHA256()
        var shortage: Shortage?
        var offset: Int64 = 0
        for region in regions ?? [0..<size] where shortage == nil {
            try fill(region.lowerBound - offset, &digest, report)
            offset = region.lowerBound
            while offset < region.upperBound, shortage == nil {
                let wanted = Int(min(Int64(buffer.count), region.upperBound - offset))
                var count = 0
                do throws(Errno) {
                    count = try readFile(
                        file.descriptor, at: offset,
                        into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
                    if count == 0 { shortage = .ended }
                } catch {
                    shortage = .unreadable(error)
                }
                try add(UnsafeRawBufferPointer(rebasing: buffer[..<count]), &digest, report)
                offset += Int64(count)
            }
        }
        try fill(size - offset, &digest, report)
        return Outcome(digest: digest.finish(), shortage: shortage)
    }

    /// Reads a file's content again, and computes its digest.
    ///
    /// - Parameter report: called with the number of bytes of each piece; returns true to stop.
    /// - Returns: the SHA-256 of the first `size` bytes; nil when there are fewer, or when they
    ///   cannot be read.
    /// - Throws: `CancellationError` when stopped.
    func digest(of file: SharedDescriptor, size: Int64, report: (Int) -> Bool) throws -> String? {
        var digest = SHA256()
        var offset: Int64 = 0
        while offset < size {
            let wanted = Int(min(Int64(buffer.count), size - offset))
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            let count: Int
            do throws(Errno) {
                count = try readFile(file.descriptor, at: offset, into: piece)
            } catch {
                return nil
            }
            if count == 0 { return nil }
            digest.update(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            if report(count) { throw CancellationError() }
            offset += Int64(count)
        }
        return digest.finish()
    }

    /// Adds zeros.
    private func fill(_ count: Int64, _ digest: inout SHA256, _ report: (Int) -> Bool) throws {
        var rest = count
        while rest > 0 {
            let piece = UnsafeRawBufferPointer(
                rebasing: zeros[..<Int(min(Int64(zeros.count), rest))])
            try add(piece, &digest, report)
            rest -= Int64(piece.count)
        }
    }

    private func add(
        _ piece: UnsafeRawBufferPointer, _ digest: inout SHA256, _ report: (Int) -> Bool
    ) throws {
        digest.update(piece)
        try writer.append(piece)
        if report(piece.count) { throw CancellationError() }
    }
}
