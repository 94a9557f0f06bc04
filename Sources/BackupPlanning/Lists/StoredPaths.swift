import HeapModule
import SystemCalls
import SystemPackage

/// The paths of everything a plan stores, in order.
///
/// Memory is bounded whatever their number: beyond a few MiB they are kept in an unnamed file.
public final class StoredPaths: Sendable {
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

    /// Adds a run that must leave memory. A failure is thrown by ``forEachPiece(prefix:_:)``.
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

    /// Calls `body` with many paths at a time, each preceded by `prefix` and followed by a NUL.
    ///
    /// - Throws: `FileError` naming the directory when the file in it could not be written or read;
    ///   whatever `body` throws.
    func forEachPiece(prefix: [UInt8], _ body: ([UInt8]) throws -> Void) throws {
        let readers: [PathRunReader]
        do throws(Errno) {
            readers = try makeReaders()
        } catch {
            throw FileError(error, of: directory)
        }
        var queue = Heap(readers.filter { !$0.isAtEnd })
        var piece: [UInt8] = []
        while let next = queue.min {
            piece += prefix
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
