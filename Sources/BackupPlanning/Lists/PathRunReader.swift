import SystemCalls
import SystemPackage

/// Reads a sorted run, piece by piece when it is in a file. Readers compare by their next record.
final class PathRunReader: Comparable {
    private static let pieceSize = 65536

    private var bytes: [UInt8]
    private var start = 0
    private let file: FileDescriptor?
    private var rest: Range<Int64>

    /// Creates a reader of a run in memory.
    ///
    /// - Parameter bytes: the whole run.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        file = nil
        rest = 0..<0
    }

    /// Creates a reader of a run in a file.
    ///
    /// - Parameter range: the run's position in the file.
    init(_ file: FileDescriptor, _ range: Range<Int64>) throws(Errno) {
        bytes = []
        self.file = file
        rest = range
        try fill()
    }

    /// Whether all records have been taken.
    var isAtEnd: Bool { start == bytes.count }

    /// Whether the next record comes before the next one of another run. Neither may be at its end.
    static func < (first: PathRunReader, second: PathRunReader) -> Bool {
        first.bytes.withUnsafeBytes { bytes in
            second.bytes.withUnsafeBytes {
                PathOrder.precedes(bytes, first.start, $0, second.start)
            }
        }
    }

    static func == (first: PathRunReader, second: PathRunReader) -> Bool { first === second }

    /// Appends the path of the next record, NUL included, and advances to the record after it.
    func take(to output: inout [UInt8]) throws(Errno) {
        var byte: UInt8
        repeat {
            byte = bytes[start]
            output.append(PathOrder.byte(at: byte))
            start += 1
        } while byte != 0
        if !rest.isEmpty && !bytes[start...].contains(0) { try fill() }
    }

    /// Reads until the buffer contains a whole record.
    private func fill() throws(Errno) {
        bytes.removeFirst(start)
        start = 0
        guard let file else { return }
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 1)
        defer { piece.deallocate() }
        while !rest.isEmpty {
            let (old, offset) = (bytes.count, rest.lowerBound)
            let wanted = UnsafeMutableRawBufferPointer(rebasing: piece.prefix(rest.count))
            let count = try readFile(file, at: offset, into: wanted)
            guard count > 0 else { throw .ioError }
            bytes += wanted.prefix(count)
            rest = (offset + Int64(count))..<rest.upperBound
            if bytes[old...].contains(0) { return }
        }
    }
}
