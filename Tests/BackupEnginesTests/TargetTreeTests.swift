import CLinux
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

@Suite("Going down in a restore's target")
struct TargetTreeTests {
    private static let tree = Tree {
        File("victim", "text")
        Directory("target") {
            Directory("directory") { File("file", "text") }
            SymbolicLink("link", to: "directory")
        }
    }

    @Test("a path that leads up or through a link is refused, and one that leads down is found")
    func paths() throws {
        try withTemporaryDirectory(containing: Self.tree) { root in
            let tree = try TargetTree(root.appending("target"))
            for path in ["/../victim", "/directory/../../victim", "/directory/..", "/", "file"] {
                #expect(throws: Errno.invalidArgument, "\(path)") {
                    _ = try tree.entry(Array(path.utf8))
                }
            }
            #expect(throws: Errno.tooManySymbolicLinkLevels) {
                _ = try tree.entry(Array("/link/file".utf8))
            }
            let found = try tree.openItem(Array("/directory/file".utf8))
            try #expect(found.descriptor.status().size == 4)
        }
    }

    @Test("what is mounted below the target belongs to it")
    func mounts() throws {
        try require(.root)
        try withFilesystem(.tmpfs) { volume in
            try Tree { File("file", "text") }.create(in: volume.root)
            let tree = try TargetTree(volume.root.removingLastComponent())
            let name = try #require(volume.root.lastComponent)
            let found = try tree.openItem(Array("/\(name)/file".utf8))
            try #expect(found.descriptor.status().size == 4)
        }
    }
}
