import SystemCalls
import SystemPackage

/// Reads a run in order, a piece at a time where it lies in a file. Compared by the next record.
final class PathRunReader: Comparable {
    private static let pieceSize = 65536

    private var bytes: [UInt8]
    private var start = 0
    private let file: FileDescriptor?
    private var rest: Range<Int64>

    /// - Parameter bytes: the whole run.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        file = nil
        rest = 0..<0
    }

    /// - Parameter range: where the run lies in the file.
    init(_ file: FileDescriptor, _ range: Range<Int64>) throws(Errno) {
        bytes = []
        self.file = file
        rest = range
        try fill()
    }

    /// Whether all records were taken.
    var isAtEnd: Bool { start == bytes.count }

    /// Whether the next record comes before the next one of another run. Both have one.
    static func < (first: PathRunReader, second: PathRunReader) -> Bool {
        first.bytes.withUnsafeBytes { bytes in
            second.bytes.withUnsafeBytes {
                PathOrder.precedes(bytes, first.start, $0, second.start)
            }
        }
    }

    static func == (first: PathRunReader, second: PathRunReader) -> Bool { first === second }

    /// Appends the path of the next record, NUL included, and goes on to the one behind it.
    func take(to output: inout [UInt8]) throws(Errno) {
        var byte: UInt8
        repeat {
            byte = bytes[start]
            output.append(PathOrder.byte(at: byte))
            start += 1
        } while byte != 0
        if !rest.isEmpty && !bytes[start...].contains(0) { try fill() }
    }

    /// Reads on until there is a whole record.
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
