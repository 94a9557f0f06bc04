import CLinux
import SystemPackage
import TestSupport
import Testing

@testable import SystemCalls

@Suite("One system call")
struct PerformTests {
    private let current = FileDescriptor.workingDirectory

    @Test("a call that a signal interrupts is made again")
    func interrupted() throws {
        let mock = SystemCallMock([.statx: [.interrupted, .interrupted]])
        let status = try mock.run { try FilePath("/").status() }
        #expect(status.kind == .directory)
        #expect(mock.calls[.statx] == 3)
    }

    @Test("close is not made again, since the descriptor is free already")
    func interruptedClose() throws {
        let descriptor = try openFile(in: current, "/", flags: .readOnly)
        let mock = SystemCallMock([.close: [.interrupted]])
        #expect(throws: Errno.interrupted) { try mock.run { try closeFile(descriptor) } }
        #expect(mock.calls[.close] == 1)
        try closeFile(descriptor)
    }

    @Test(
        "an errno reaches the caller as it is", arguments: [Errno.ioError, .noMemory, .badAddress])
    func thrown(errno: Errno) {
        let mock = SystemCallMock([.statx: [errno]])
        #expect(throws: errno) { try mock.run { try FilePath("/").status() } }
    }

    @Test("answers end with the closure they were given to")
    func scope() throws {
        let mock = SystemCallMock([.statx: [.ioError, .ioError]])
        #expect(throws: Errno.ioError) { try mock.run { try FilePath("/").status() } }
        #expect(try FilePath("/").status().kind == .directory)
    }

    @Test("reading a file that fails midway closes it")
    func readingFails() {
        let mock = SystemCallMock([.read: [.ioError]])
        let path: FilePath = "/proc/self/status"
        #expect(throws: FileError.opening(.ioError, path)) {
            try mock.run { try contentsOfFile(path) }
        }
        #expect(mock.calls[.close] == 1)
    }

    @Test("a refused descriptor limit leaves the limit in force")
    func refusedLimit() throws {
        let mock = SystemCallMock([.setrlimit: [.notPermitted]])
        #expect(try mock.run { try raiseDescriptorLimit() } > 0)
    }
}
