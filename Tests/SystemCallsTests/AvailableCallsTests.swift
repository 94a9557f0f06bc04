import CLinux
import SystemPackage
import TestSupport
import Testing

@testable import SystemCalls

@Suite("Calls that a kernel or a filter does not know", .cleansUp)
struct AvailableCallsTests {
    @Test("a probe answered with ENOSYS or EPERM is of a call that may not be used")
    func probes() {
        for errno in [ENOSYS, EPERM] {
            #expect(!AvailableCalls.isAvailable(-Int(errno)), "\(errno)")
        }
        for answer in [0, 3, -Int(EBADF), -Int(EFAULT), -Int(EACCES), -Int(EINVAL)] {
            #expect(AvailableCalls.isAvailable(answer), "\(answer)")
        }
    }

    /// Reads an attribute of a name in a directory without the xattrat calls.
    private func read(
        _ name: FilePath, in directory: FileDescriptor, followingLinks follows: Bool = false
    ) throws(Errno) -> [UInt8] {
        try name.withPointer { name throws(Errno) in
            let target = CallTarget(
                directory: directory.rawValue, path: name, followsSymbolicLink: follows)
            var value = [UInt8](repeating: 0, count: 64)
            let count = try ExtendedAttributeCalls.throughReference(to: target, .getxattr) { path in
                value.withUnsafeMutableBytes {
                    linux_getxattr(path, "user.a", $0.baseAddress, $0.count)
                }
            }
            return Array(value.prefix(count))
        }
    }

    @Test("without the xattrat calls a name is reached itself, not what a link leads to")
    func reference() throws {
        let root = try temporaryDirectory {
            File("f").attribute("user.a", "value").permissions(0)
            SymbolicLink("link", to: "f")
            Fifo("fifo")
        }
        let directory = OwnedDescriptor(try openDirectoryReference(root))
        let mock = SystemCallMock([:])
        try mock.run {
            let descriptor = directory.descriptor
            try #expect(read("f", in: descriptor) == Array("value".utf8))
            try #expect(read("link", in: descriptor, followingLinks: true) == Array("value".utf8))
            for name in ["link", "fifo"] as [FilePath] {
                let error = #expect(throws: Errno.self) { try read(name, in: descriptor) }
                #expect([.noData, .notSupported].contains(error))
            }
            #expect(throws: Errno.noSuchFileOrDirectory) {
                try read("missing", in: descriptor)
            }
        }
        #expect(mock.calls[.openat] == 5 && mock.calls[.close] == 4)
    }

    @Test("without /proc an open file is never reported as missing")
    func noProc() throws {
        let root = try temporaryDirectory { File("f") }
        let directory = OwnedDescriptor(try openDirectoryReference(root))
        let mock = SystemCallMock([.getxattr: [.noSuchFileOrDirectory]])
        #expect(throws: Errno.noFunction) {
            try mock.run { try read("f", in: directory.descriptor) }
        }
    }
}
