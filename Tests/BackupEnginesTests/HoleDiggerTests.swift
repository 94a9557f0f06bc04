import CLinux
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

@Suite("Digging holes")
struct HoleDiggerTests {
    private static let moment = FileTime(seconds: 1_234_567_890, nanoseconds: 987_654_321)

    @Test("blocks of zeros are freed, and content, size and time stay")
    func blocks() throws {
        var content = [UInt8](repeating: 0, count: 3 << 20)
        for index in [0, 5000, 8191, 1 << 20, (2 << 20) + 4095, content.count - 1] {
            content[index] = 7
        }
        let tree = Tree {
            File("file", content + [0, 0, 0]).permissions(0o444).modified(Self.moment)
        }
        try withTemporaryDirectory(containing: tree) { root in
            let path = root.appending("file")
            let before = try path.status()
            let directory = OwnedDescriptor(try openFile(root, flags: [.reference, .directory]))
            let file = OwnedDescriptor(try openReference("file", in: directory.descriptor))
            try HoleDigger.dig(in: file.descriptor, before)
            let after = try path.status()
            #expect(try contentsOfFile(path) == content + [0, 0, 0])
            #expect(after.size == before.size)
            #expect(after.permissions == 0o444)
            #expect(after.contentModificationTime == Self.moment)
            #expect(after.allocatedSize <= 8 * 4096)
            #expect(before.allocatedSize >= 3 << 20)
        }
    }

    @Test("a symbolic link put in place of the file is not followed")
    func link() throws {
        let tree = Tree {
            File("victim", [UInt8](repeating: 0, count: 8192))
            SymbolicLink("file", to: "victim")
        }
        try withTemporaryDirectory(containing: tree) { root in
            let victim = root.appending("victim")
            let before = try victim.status()
            let directory = OwnedDescriptor(try openFile(root, flags: [.reference, .directory]))
            let file = OwnedDescriptor(try openReference("file", in: directory.descriptor))
            try HoleDigger.dig(in: file.descriptor, file.descriptor.status())
            #expect(try victim.status().allocatedSize == before.allocatedSize)
        }
    }
}
