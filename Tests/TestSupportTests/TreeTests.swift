import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Declared trees", .cleansUp)
struct TreeTests {
    @Test("a declared tree is on disk until a test ends, and gone afterwards")
    func lifetime() throws {
        let tree = Tree {
            File("a", "text").excluded()
            Directory("b") { SymbolicLink("l", to: "../a") }
            HardLink("h", to: "a")
        }
        let root = try cleaningUp {
            let root = try temporaryDirectory(containing: tree)
            try #expect(root.appending("h").value(for: .isExcludedFromBackup) == true)
            try #expect(root.appending("h").status().linkCount == 2)
            let link = root.appending("b/l")
            try #expect(link.withoutFollowing.status().kind == .symbolicLink)
            try #expect(link.status().size == 4)
            return root
        }
        #expect(throws: Errno.noSuchFileOrDirectory) { try root.status() }
    }

    @Test("a tree deeper than PATH_MAX, without permissions, is made and removed")
    func depth() throws {
        let tree = Tree {
            NestedDirectories(HostileNames.longest, depth: 40) { File("end") }
            NestedDirectories("d", depth: 3000)
            Directory("closed") { File("inside") }.permissions(0)
        }
        let root = try cleaningUp {
            let root = try temporaryDirectory(containing: tree)
            let path = root.appending(HostileNames.longest, times: 40)
            try #expect(path.appending("end").status().kind == .regularFile)
            return root
        }
        #expect(throws: Errno.noSuchFileOrDirectory) { try root.status() }
    }
}
