import HeapModule
import SystemCalls
import SystemPackage

/// The paths of everything a plan stores, in order: a directory comes directly before its contents.
///
/// Memory is bounded whatever their number: beyond a few MiB they are kept in an unnamed file.
final class StoredPaths: Sendable {
    private struct State {
        var runs: [[UInt8]] = []
        var ranges: [Range<Int64>] = []
        // Unnamed, so that no other process can open it by path.
        var file: SharedDescriptor?
        var failure: Errno?
    }

    private let directory: FilePath
    private let state: Monitor<State> = Monitor(State())

    /// Creates an empty collection.
    ///
    /// - Parameter directory: the directory for the file, when one is needed.
    init(spillingTo directory: FilePath) {
        self.directory = directory
    }

    /// Adds the last run of a thread, which stays in memory.
    func keep(_ run: [UInt8]) {
        state.withLock { $0.runs.append(run) }
    }

    /// Adds a run that must leave memory. A failure is thrown by ``forEachPiece(_:)``.
    func spill(_ run: [UInt8]) {
        state.withLock { state in
            guard state.failure == nil else { return }
            do throws(Errno) {
                if state.file == nil {
                    state.file = SharedDescriptor(try makeScratchFile(in: directory))
                }
                guard let file = state.file?.descriptor else { return }
                try run.withUnsafeBufferPointer { bytes throws(Errno) in
                    try writeFile(file, UnsafeRawBufferPointer(bytes))
                }
                let start = state.ranges.last?.upperBound ?? 0
                state.ranges.append(start..<(start + Int64(run.count)))
            } catch {
                state.failure = error
            }
        }
    }

    /// Calls `body` with many paths at a time, each followed by a NUL.
    ///
    /// - Throws: `FileError` naming the directory when the file in it could not be written or read;
    ///   whatever `body` throws.
    func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
        let readers: [PathRunReader]
        do throws(Errno) {
            readers = try makeReaders()
        } catch {
            throw FileError(error, of: directory)
        }
        var queue = Heap(readers.filter { !$0.isAtEnd })
        var piece: [UInt8] = []
        while let next = queue.min {
            do throws(Errno) {
                try next.take(to: &piece)
            } catch {
                throw FileError(error, of: directory)
            }
            // The reader has another next record, and so another position in the heap.
            if next.isAtEnd { queue.removeMin() } else { queue.replaceMin(with: next) }
            if piece.count >= 65536 {
                try body(piece)
                piece.removeAll(keepingCapacity: true)
            }
        }
        if !piece.isEmpty { try body(piece) }
    }

    private func makeReaders() throws(Errno) -> [PathRunReader] {
        let (runs, ranges, file, failure) = state.withLock {
            ($0.runs, $0.ranges, $0.file?.descriptor, $0.failure)
        }
        if let failure { throw failure }
        var readers = runs.map { PathRunReader($0) }
        guard let file else { return readers }
        for range in ranges { readers.append(try PathRunReader(file, range)) }
        return readers
    }
}

/// Paths to be sorted, as NUL-terminated records. A class, since the observer that has it is copied.
final class PathRun {
    /// The number of bytes gathered before a run is sorted. Each thread gathers its own run.
    private static let limit = 2 << 20

    private var bytes: [UInt8] = []
    private var starts: [UInt32] = []

    var isFull: Bool { bytes.count >= Self.limit }
    var isEmpty: Bool { starts.isEmpty }

    func append(_ path: [UInt8]) {
        starts.append(UInt32(bytes.count))
        bytes += path
        bytes.append(0)
    }

    /// Returns all records in order, and empties the run.
    func sorted() -> [UInt8] {
        bytes.withUnsafeBytes { bytes in
            starts.sort { precedes(bytes, Int($0), bytes, Int($1)) }
        }
        var sorted: [UInt8] = []
        sorted.reserveCapacity(bytes.count)
        for start in starts {
            sorted += bytes[Int(start)...].prefix { $0 != 0 }
            sorted.append(0)
        }
        bytes.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        return sorted
    }
}

/// Reads a sorted run, piece by piece when it is in a file. Readers compare by their next record.
private final class PathRunReader: Comparable {
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
            second.bytes.withUnsafeBytes { precedes(bytes, first.start, $0, second.start) }
        }
    }

    static func == (first: PathRunReader, second: PathRunReader) -> Bool { first === second }

    /// Appends the path of the next record, NUL included, and advances to the record after it.
    func take(to output: inout [UInt8]) throws(Errno) {
        let end = bytes[start...].firstIndex(of: 0) ?? bytes.count - 1
        output += bytes[start...end]
        start = end + 1
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

/// Whether one NUL-terminated path comes before another: byte by byte, the slash before any other
/// byte.
private func precedes(
    _ first: UnsafeRawBufferPointer, _ start: Int, _ second: UnsafeRawBufferPointer,
    _ otherStart: Int
) -> Bool {
    func rank(_ byte: UInt8) -> Int {
        byte == UInt8(ascii: "/") ? 1 : byte == 0 ? 0 : Int(byte) + 1
    }
    var (index, other) = (start, otherStart)
    while first[index] == second[other] && first[index] != 0 {
        index += 1
        other += 1
    }
    return rank(first[index]) < rank(second[other])
}
