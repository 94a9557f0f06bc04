import Glibc
import SystemCalls
import SystemPackage

/// Reads records that end with a NUL, such as the paths `find -print0` writes, or with a newline, in
/// constant memory.
package struct RecordReader: ~Copyable {
    /// Longer than any path that can be named in one go, and enough for many.
    private static let chunkSize = 65536
    /// The longest record that is kept; a longer one is a list of another kind.
    private static let longestRecord = 1 << 20

    /// What stood between two ends.
    package enum Record {
        /// A record's bytes, without its end; valid only meanwhile.
        case whole(UnsafeBufferPointer<UInt8>)
        /// Two ends had nothing between them.
        case empty
        /// The list ended without an end behind these bytes.
        case cutShort(UnsafeBufferPointer<UInt8>)
        /// More than 1 MiB without an end, which was passed over.
        case tooLong
    }

    private let descriptor: FileDescriptor
    private let end: UInt8
    private var buffer: UnsafeMutableRawBufferPointer
    private var pending = 0..<0
    private var isSkipping = false

    /// Reads from an open file, which stays the caller's to close.
    ///
    /// - Parameters:
    ///   - descriptor: the open file.
    ///   - end: the byte that ends each record.
    package init(_ descriptor: FileDescriptor, endingWith end: UInt8 = 0) {
        self.descriptor = descriptor
        self.end = end
        buffer = .allocate(byteCount: Self.chunkSize, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Calls `body` with each record until the list ends or a stop is asked for.
    ///
    /// - Parameter beforeWaiting: called before a read that may have to wait for a writer.
    /// - Throws: the errno of reading.
    package mutating func forEach(
        beforeWaiting: () -> Void = {}, _ body: (Record) -> Void
    ) throws(Errno) {
        while !StopRequest.isMade {
            while let end = endOfRecord() {
                let record = pending.lowerBound..<end
                pending = end + 1..<pending.upperBound
                if isSkipping {
                    isSkipping = false
                } else {
                    body(record.isEmpty ? .empty : .whole(bytes(record)))
                    if StopRequest.isMade { return }
                }
            }
            makeRoom(body)
            beforeWaiting()
            guard try fill() else { break }
        }
        if !pending.isEmpty && !isSkipping && !StopRequest.isMade {
            body(.cutShort(bytes(pending)))
        }
    }

    private func endOfRecord() -> Int? {
        guard let start = buffer.baseAddress, !pending.isEmpty else { return nil }
        guard let found = memchr(start + pending.lowerBound, CInt(end), pending.count)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(start)
    }

    private func bytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeRawBufferPointer(rebasing: buffer[range]).assumingMemoryBound(to: UInt8.self)
    }

    /// Moves what is left of the last chunk to the front, and grows the buffer for a long record.
    private mutating func makeRoom(_ body: (Record) -> Void) {
        if pending.count > Self.longestRecord {
            if !isSkipping { body(.tooLong) }
            isSkipping = true
        }
        if isSkipping { pending = 0..<0 }
        if pending.count > buffer.count / 2 {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: buffer.count * 2, alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[pending]))
            buffer.deallocate()
            buffer = larger
        } else if let start = buffer.baseAddress {
            memmove(start, start + pending.lowerBound, pending.count)
        }
        pending = 0..<pending.count
    }

    private mutating func fill() throws(Errno) -> Bool {
        guard waitUntilReadable() else { return false }
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[pending.upperBound...])
        let count = try readFile(descriptor, into: room)
        pending = pending.lowerBound..<pending.upperBound + count
        return count > 0
    }

    /// Waits in steps, since a signal that asks to stop does not end a read that is under way.
    private func waitUntilReadable() -> Bool {
        var request = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        while !StopRequest.isMade {
            if poll(&request, 1, 200) > 0 { return true }
        }
        return false
    }
}
