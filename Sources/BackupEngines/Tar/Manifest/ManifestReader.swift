import Eviction
import ResourceValues
import SystemCalls
import SystemPackage

/// Reads a manifest line by line.
final class ManifestReader {
    /// The first line.
    private(set) var head: ManifestHead
    /// The last line; nil until it is read.
    private(set) var end: ManifestEnd?
    private let reader: ArchiveReader
    private let isCancelled: () -> Bool
    private var buffer: [UInt8] = []
    private var position = 0
    private var digest = SHA256()
    private var itemCount: Int64 = 0

    /// Opens a manifest and reads its first line.
    ///
    /// - Parameters:
    ///   - descriptor: open for reading; it stays open.
    ///   - isCancelled: called between pieces; returns true to stop, which is a failure.
    /// - Throws: ``ArchiveFailure``.
    init(
        from descriptor: FileDescriptor, isCancelled: @escaping () -> Bool
    ) throws(ArchiveFailure) {
        self.isCancelled = isCancelled
        reader = try ArchiveReader(.raw, from: descriptor)
        guard try reader.next() != nil else { throw .truncatedManifest }
        let placeholder = Snapshot(
            identifier: "", time: .init(seconds: 0, nanoseconds: 0), hostName: "", userName: "",
            allTags: [])
        head = ManifestHead(version: 0, snapshot: placeholder)
        guard let line = try nextLine(), case .head(let head) = try parse(line) else {
            throw ArchiveFailure("is not a manifest of a snapshot")
        }
        guard HeadSeal.fits(line) else {
            throw ArchiveFailure("does not record what was written to it")
        }
        guard head.version <= ManifestHead.currentVersion else {
            throw ArchiveFailure("was made by a newer resval-backup")
        }
        self.head = head
    }

    /// Returns the next item; nil after the last, when the rest has been read and is intact.
    func nextItem() throws(ArchiveFailure) -> ManifestItem? {
        while let line = try nextLine() {
            switch try read(line, { _ in }) {
            case .item(let item): return item
            case .end: return nil
            default: break
            }
        }
        throw .truncatedManifest
    }

    /// Passes the snapshot's record to `body` piece by piece, and reads the rest. What `body`
    /// received is the record only if nothing is thrown.
    ///
    /// - Returns: false when there is no record.
    func readRecord(
        _ body: ([UInt8]) throws(ArchiveFailure) -> Void
    ) throws(ArchiveFailure) -> Bool {
        var isFound = false
        while let line = try nextLine() {
            switch try read(line, body) {
            case .record: isFound = true
            case .end: return isFound
            default: break
            }
        }
        throw .truncatedManifest
    }

    /// Reads a line after the first one, with the bytes that belong to it, and adds them to the
    /// digest; compares the digest at the last line.
    private func read(
        _ line: [UInt8], _ body: ([UInt8]) throws(ArchiveFailure) -> Void
    ) throws(ArchiveFailure) -> ManifestLine {
        let parsed = try parse(line)
        if case .end(let end) = parsed {
            try check(end)
            return parsed
        }
        digest.update(line)
        switch parsed {
        case .item: itemCount += 1
        case .record(let size):
            try readBytes(size) { bytes throws(ArchiveFailure) in
                digest.update(bytes)
                try body(bytes)
            }
        case .shortfall, .other: break
        case .head, .end: throw .senselessManifest
        }
        return parsed
    }

    /// Passes the bytes after the first line to `body` piece by piece.
    func readRest(_ body: ([UInt8]) throws(ArchiveFailure) -> Void) throws(ArchiveFailure) {
        repeat {
            try body(Array(buffer[position...]))
            position = buffer.count
        } while try readMore()
    }

    private func readBytes(
        _ size: Int64, _ body: ([UInt8]) throws(ArchiveFailure) -> Void
    ) throws(ArchiveFailure) {
        var rest = size
        while rest > 0 {
            if position == buffer.count, try !readMore() { throw .truncatedManifest }
            let count = Int(min(rest, Int64(buffer.count - position)))
            try body(Array(buffer[position..<(position + count)]))
            position += count
            rest -= Int64(count)
        }
    }

    private func check(_ end: ManifestEnd) throws(ArchiveFailure) {
        guard end.items == itemCount, end.linesDigest == digest.finish() else {
            throw ArchiveFailure("does not contain what was written to it")
        }
        self.end = end
    }

    private func parse(_ line: [UInt8]) throws(ArchiveFailure) -> ManifestLine {
        do throws(JSONError) {
            return try ManifestLine(reading: line[...])
        } catch {
            throw .senselessManifest
        }
    }

    /// Returns the next line with its newline; nil at the end.
    private func nextLine() throws(ArchiveFailure) -> [UInt8]? {
        var searched = position
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { position = end + 1 }
                return Array(buffer[position...end])
            }
            let unfinished = buffer.count - position
            guard unfinished < longestLine else { throw .senselessManifest }
            guard try readMore() else {
                if unfinished > 0 { throw .truncatedManifest }
                return nil
            }
            searched = position + unfinished
        }
    }

    private func readMore() throws(ArchiveFailure) -> Bool {
        guard !isCancelled() else { throw ArchiveFailure("was not read to its end") }
        buffer.removeFirst(position)
        position = 0
        guard let piece = try reader.nextPiece() else { return false }
        buffer.append(contentsOf: piece.bytes)
        return true
    }
}

extension ArchiveFailure {
    fileprivate static let truncatedManifest = ArchiveFailure("is truncated")
    fileprivate static let senselessManifest = ArchiveFailure("is malformed")
}
