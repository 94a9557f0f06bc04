import SystemPackage
import TestSupport
import Testing

@testable import SystemCalls

@Suite("Paths beyond PATH_MAX", .cleansUp)
struct LongPathTests {
    @Test(
        "paths around the limit all lead to their file", arguments: [4094, 4095, 4096, 4097, 8300])
    func lengths(length: Int) throws {
        let root = try temporaryDirectory()
        let (depth, rest) = (length - root.bytes.count - 2).quotientAndRemainder(dividingBy: 101)
        let directory = FileName(Array(repeating: UInt8(ascii: "d"), count: 100))
        let end = FileName(Array(repeating: UInt8(ascii: "f"), count: rest + 1))
        try Tree { NestedDirectories(directory, depth: depth) { File(end, "text") } }
            .create(in: root)
        let path = root.appending(directory, times: depth).appending(end)
        #expect(path.bytes.count == length)
        try #expect(path.status().size == 4)
    }

    @Test("a component longer than any filesystem takes is an error")
    func longComponent() {
        let path = FilePath(String(repeating: "c", count: 5000))
        #expect(throws: Errno.fileNameTooLong) { try path.status() }
        #expect(throws: Errno.fileNameTooLong) { try FilePath("/").pushing(path).status() }
    }

    @Test("no descriptor stays open, whether the file is there or not")
    func descriptors() throws {
        let directory = FileName(Array(repeating: UInt8(ascii: "d"), count: 200))
        let root = try temporaryDirectory { NestedDirectories(directory, depth: 50) { File("f") } }
        let path = root.appending(directory, times: 50)
        let mock = SystemCallMock([:])
        try mock.run {
            _ = try path.appending("f").status()
            #expect(!path.appending("g").exists)
        }
        #expect(mock.calls[.openat, default: 0] >= 4)
        #expect(mock.calls[.openat] == mock.calls[.close])
    }
}
