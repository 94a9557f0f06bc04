import CLinux
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

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
            let tree = try OpenDirectory(at: root.appending("target"))
            for path in ["/../victim", "/directory/../../victim", "/directory/..", "/", "file"] {
                #expect(throws: Errno.invalidArgument, "\(path)") {
                    _ = try tree.parent(of: Array(path.utf8))
                }
            }
            #expect(throws: Errno.tooManySymbolicLinkLevels) {
                _ = try tree.parent(of: Array("/link/file".utf8))
            }
            let (parent, name) = try tree.parent(of: Array("/directory/file".utf8))
            #expect(name == "file")
            try #expect(
                parent.status().identity == root.appending("target/directory").status().identity)
            try #expect(
                tree.parent(of: Array("/link".utf8)).directory.status().identity
                    == tree.status().identity)
        }
    }

    @Test("what is mounted below the target belongs to it")
    func mounts() throws {
        try require(.root)
        try withFilesystem(.tmpfs) { volume in
            try Tree { File("file", "text") }.create(in: volume.root)
            let tree = try OpenDirectory(at: volume.root.removingLastComponent())
            let name = try #require(volume.root.lastComponent)
            let found = try tree.parent(of: Array("/\(name)/file".utf8)).directory
            try #expect(found.status().identity == volume.root.status().identity)
        }
    }
}
