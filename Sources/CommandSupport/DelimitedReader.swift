import Glibc
import SystemCalls
import SystemPackage

/// Reads records terminated by a NUL, such as the paths from `find -print0`, or by a newline, in
/// constant memory.
package struct DelimitedReader: ~Copyable {
    /// Longer than the longest path of a system call, and enough for many paths.
    private static let chunkSize = 65536
    /// The longest record that is accepted; a longer one means that the list has another format.
    private static let longestRecord = 1 << 20

    package enum Record {
        /// The bytes of a record, without its terminator; valid only during the call.
        case whole(UnsafeBufferPointer<UInt8>)
        /// Two terminators with nothing between them.
        case empty
        /// The bytes after the last terminator of the list.
        case cutShort(UnsafeBufferPointer<UInt8>)
        /// More than 1 MiB without a terminator, which was skipped.
        case tooLong
    }

    private let descriptor: FileDescriptor
    private let end: UInt8
    private var buffer: UnsafeMutableRawBufferPointer
    private var pending = 0..<0
    private var isSkipping = false

    /// Creates a reader of an open file, which the caller has to close.
    package init(_ descriptor: FileDescriptor, endingWith end: UInt8 = 0) {
        self.descriptor = descriptor
        self.end = end
        buffer = .allocate(byteCount: Self.chunkSize, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Calls `body` with each record until the list ends or a stop is requested.
    ///
    /// - Parameter beforeWaiting: called before a read that may block until a writer continues.
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
        guard let start = buffer.baseAddress, !pending.isEmpty,
            let found = memchr(start + pending.lowerBound, CInt(end), pending.count)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(start)
    }

    private func bytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeRawBufferPointer(rebasing: buffer[range]).assumingMemoryBound(to: UInt8.self)
    }

    /// Moves the rest of the last chunk to the front, and grows the buffer for a long record.
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
        guard waitUntilReadable(descriptor) else { return false }
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[pending.upperBound...])
        let count = try readFile(descriptor, into: room)
        pending = pending.lowerBound..<pending.upperBound + count
        return count > 0
    }
}

/// Waits for input, with a timeout: a signal that requests a stop may arrive on any thread, and does not
/// interrupt a read in progress.
///
/// - Returns: false when a stop is requested.
func waitUntilReadable(_ descriptor: FileDescriptor) -> Bool {
    var request = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
    while !StopRequest.isMade {
        if poll(&request, 1, 200) > 0 { return true }
    }
    return false
}
