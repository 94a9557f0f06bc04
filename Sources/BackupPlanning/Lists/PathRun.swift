import SystemCalls
import SystemPackage

/// Paths to be sorted, as NUL-terminated records of bytes that compare as the paths do.
///
/// In that order, a directory comes directly before everything in it: the slash sorts before any
/// other byte.
struct PathRun: ~Copyable {
    /// The number of bytes gathered before a run is sorted. Each thread gathers its own run.
    private static let limit = 2 << 20

    private var bytes: [UInt8] = []
    private var starts: [UInt32] = []

    var isFull: Bool { bytes.count >= Self.limit }
    var isEmpty: Bool { starts.isEmpty }

    mutating func append(_ path: [UInt8]) {
        starts.append(UInt32(bytes.count))
        for byte in path { bytes.append(PathOrder.rank(byte)) }
        bytes.append(0)
    }

    /// Returns all records in order, and empties the run.
    mutating func sorted() -> [UInt8] {
        let sorted = bytes.withUnsafeBytes { bytes in
            starts.sort { PathOrder.precedes(bytes, Int($0), bytes, Int($1)) }
            return [UInt8](unsafeUninitializedCapacity: bytes.count) { target, count in
                for start in starts {
                    var index = Int(start)
                    repeat {
                        target[count] = bytes[index]
                        count += 1
                        index += 1
                    } while bytes[index - 1] != 0
                }
            }
        }
        bytes.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        return sorted
    }
}

/// The order of paths: byte by byte, with the slash first.
enum PathOrder {
    private static let slash = UInt8(ascii: "/")

    /// Returns a byte's rank in the order; 0 only for NUL.
    static func rank(_ byte: UInt8) -> UInt8 {
        byte == slash ? 1 : byte < slash && byte > 0 ? byte + 1 : byte
    }

    /// Returns the byte with this rank.
    static func byte(at rank: UInt8) -> UInt8 {
        rank == 1 ? slash : rank <= slash && rank > 0 ? rank - 1 : rank
    }

    /// Whether one NUL-terminated record comes before another.
    static func precedes(
        _ first: UnsafeRawBufferPointer, _ start: Int, _ second: UnsafeRawBufferPointer,
        _ otherStart: Int
    ) -> Bool {
        var (index, other) = (start, otherStart)
        while first[index] == second[other] && first[index] != 0 {
            index += 1
            other += 1
        }
        return first[index] < second[other]
    }
}

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
