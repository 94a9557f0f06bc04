import CTestSupport
import Glibc
import SystemPackage

/// One end of a pipe to a command; not inherited by other commands, and never waited for.
final class PipeEnd {
    /// The descriptor; -1 once closed.
    private(set) var descriptor: CInt

    private init(_ descriptor: CInt) { self.descriptor = descriptor }

    deinit { close() }

    static func makePipe() throws -> (reader: PipeEnd, writer: PipeEnd) {
        var descriptors: [CInt] = [-1, -1]
        guard test_make_pipe(&descriptors) == 0 else {
            throw FixtureError(call: "pipe2", file: "", errno: Errno(rawValue: errno))
        }
        return (PipeEnd(descriptors[0]), PipeEnd(descriptors[1]))
    }

    var isOpen: Bool { descriptor >= 0 }

    func close() {
        guard isOpen else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Appends what there is to read; closes this end at the end of the stream.
    func read(into bytes: inout [UInt8]) {
        let chunk = [UInt8](unsafeUninitializedCapacity: 65536) { buffer, count in
            count = max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
        }
        bytes += chunk
        if chunk.isEmpty { close() }
    }

    /// Writes what fits without waiting, takes it off `bytes`, and closes this end after the last
    /// byte or when nobody reads.
    func write(_ bytes: inout ArraySlice<UInt8>) {
        // A pipe that poll(2) calls writable takes PIPE_BUF bytes without waiting.
        let count = bytes.prefix(Int(PIPE_BUF)).withUnsafeBytes {
            Glibc.write(descriptor, $0.baseAddress, $0.count)
        }
        guard count > 0 else { return close() }
        bytes = bytes.dropFirst(count)
        if bytes.isEmpty { close() }
    }
}
