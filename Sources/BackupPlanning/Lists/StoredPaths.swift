import SystemCalls
import SystemPackage

/// The paths of everything a plan stores, in order.
///
/// Memory is bounded whatever their number: beyond a few MiB they wait in a file without a name.
public final class StoredPaths: Sendable {
    private struct State {
        var runs: [[UInt8]] = []
        var ranges: [Range<Int64>] = []
        var file: FileDescriptor?
        var failure: Errno?
    }

    private let directory: FilePath
    private let state: Monitor<State> = Monitor(State())

    /// - Parameter directory: where the file is made, if there is need for one.
    init(spillingTo directory: FilePath) {
        self.directory = directory
    }

    deinit {
        state.withLock { state in
            // The file has no name: nobody else can want it.
            if let file = state.file { closeQuietly(file) }
        }
    }

    /// Adds a run that is complete and stays in memory, being the last one of its thread.
    func keep(_ run: [UInt8]) {
        state.withLock { $0.runs.append(run) }
    }

    /// Adds a run that has to leave memory. What goes wrong is thrown by ``forEach(_:)``.
    func spill(_ run: [UInt8]) {
        state.withLock { state in
            guard state.failure == nil else { return }
            do throws(Errno) {
                if state.file == nil { state.file = try makeFile() }
                guard let file = state.file else { return }
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

    private func makeFile() throws(Errno) -> FileDescriptor {
        let parent = OwnedDescriptor(try openDirectoryReference(directory))
        if let file = try makeUnnamedFile(in: parent.descriptor, permissions: 0o600) { return file }
        let name = FilePath(".resval-paths-\(UInt64.random(in: 0...UInt64.max))")
        let file = try SystemCalls.makeFile(name, in: parent.descriptor, permissions: 0o600)
        try removeItem(name, in: parent.descriptor, isDirectory: false)
        return file
    }

    /// Calls `body` with many paths at a time, each NUL-ended and with `prefix` before it.
    ///
    /// - Throws: `FileError` naming the directory when the file there could not be written or read;
    ///   what `body` throws.
    func forEachPiece(prefix: [UInt8], _ body: ([UInt8]) throws -> Void) throws {
        let readers: [PathRunReader]
        do throws(Errno) {
            readers = try makeReaders()
        } catch {
            throw FileError.changingItem(error, directory)
        }
        var queue = PathRunQueue(readers)
        var piece: [UInt8] = []
        while let next = queue.first {
            piece += prefix
            do throws(Errno) {
                try next.take(to: &piece)
            } catch {
                throw FileError.changingItem(error, directory)
            }
            queue.firstHasAdvanced()
            if piece.count >= 65536 {
                try body(piece)
                piece.removeAll(keepingCapacity: true)
            }
        }
        if !piece.isEmpty { try body(piece) }
    }

    private func makeReaders() throws(Errno) -> [PathRunReader] {
        let (runs, ranges, file, failure) = state.withLock {
            ($0.runs, $0.ranges, $0.file, $0.failure)
        }
        if let failure { throw failure }
        var readers = runs.map { PathRunReader($0) }
        guard let file else { return readers }
        for range in ranges { readers.append(try PathRunReader(file, range)) }
        return readers
    }
}

/// Runs in the order of their next records: a binary heap.
struct PathRunQueue {
    private var heap: [PathRunReader] = []

    init(_ readers: [PathRunReader]) {
        heap = readers.filter { !$0.isAtEnd }
        for index in heap.indices.reversed() { sink(index) }
    }

    /// The run whose next record is the first of all; nil at the end.
    var first: PathRunReader? { heap.first }

    /// Puts the first run where its next record belongs.
    mutating func firstHasAdvanced() {
        guard let first = heap.first else { return }
        if first.isAtEnd {
            let last = heap.removeLast()
            if heap.isEmpty { return }
            heap[0] = last
        }
        sink(0)
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count {
                if heap[child].precedes(heap[least]) { least = child }
            }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
