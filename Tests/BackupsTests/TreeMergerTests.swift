import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("Moving what was restored into its target", .cleansUp)
struct TreeMergerTests {
    @Test("names that print like that of a damaged file are each named, and stay")
    func namesAlike() throws {
        let base = try temporaryDirectory()
        let (tree, target) = (base.appending("tree"), base.appending("target"))
        let script = #"""
            mkdir "$1" "$2" && cd "$1"
            for name in "$(printf 'a\376')" "$(printf 'a\377')" b; do echo text > "$name"; done
            """#
        try tool("sh", "-c", script, "sh", tree, target)
        let damage = [printedName(Array("/a".utf8) + [0xFE]): "lost"]
        var merger = TreeMerger(.replacing, asked: [Array("/".utf8)], damage: damage) { false }
        try merger.merge(tree, into: OpenDirectory(at: target))
        let alike: [[UInt8]] = [0xFE, 0xFF].map { Array("/a".utf8) + [$0] }
        #expect(merger.outcome.failures.map(\.path) == alike)
        var names: [[UInt8]] = []
        try forEachName(in: target) { name in
            names.append(Array(name))
            return true
        }
        #expect(names == [Array("b".utf8)])
    }

    @Test("a directory of the target that is moved meanwhile costs what it would have got")
    func movedTarget() throws {
        let base = try temporaryDirectory()
        let (tree, target) = (base.appending("tree"), base.appending("target"))
        let script = """
            for top in "$1" "$2"; do
                mkdir "$top" && cd "$top"
                for level in $(seq 30); do mkdir d && cd d; done
            done
            cd "$1"
            for level in $(seq 30); do echo text > z; cd d; done
            """
        try shell(script, tree, target)
        var steps = 0
        var merger = TreeMerger(.replacing, asked: [Array("/".utf8)]) {
            steps += 1
            // In the lowest directory: those above are no longer open. The second is then found
            // neither above the third nor by its name.
            guard steps == 31 else { return false }
            let second = target.appending("d").appending("d")
            _ = try? tool("mv", second.appending("d"), base)
            _ = try? tool("mv", second, base.appending("second"))
            return false
        }
        try merger.merge(tree, into: OpenDirectory(at: target))
        let failures = merger.outcome.failures.map { String(decoding: $0.path, as: UTF8.self) }
        #expect(failures == ["/d/d/z", "/d/d"])
        #expect(try contentsOfFile(target.appending("z")) == Array("text\n".utf8))
        #expect(try contentsOfFile(target.appending("d").appending("z")) == Array("text\n".utf8))
        #expect(try contentsOfFile(base.appending("d").appending("z")) == Array("text\n".utf8))
    }

    #if MOCKING
    @Test("what is there stays where a link cannot be copied to another filesystem")
    func refusedLink() throws {
        let tree = try temporaryDirectory { SymbolicLink("x", to: "y") }
        let target = try filesystem(.tmpfs).root
        try Tree { File("x", "text") }.create(in: target)
        var merger = TreeMerger(.replacing, asked: [Array("/".utf8)]) { false }
        try SystemCallMock([.symlinkat: [.notPermitted]]).run {
            try merger.merge(tree, into: OpenDirectory(at: target))
        }
        #expect(merger.outcome.failures.map(\.path) == [Array("/x".utf8)])
        #expect(try tool("ls", "-A", target) == "x")
        #expect(try contentsOfFile(target.appending("x")) == Array("text".utf8))
        try merger.merge(tree, into: OpenDirectory(at: target))
        #expect(try tool("ls", "-A", target) == "x")
        #expect(try symbolicLinkTarget(target.appending("x")) == "y")
    }
    #endif

    @Test("a copy that a killed restore left on another filesystem is named")
    func leftCopies() throws {
        let tree = try temporaryDirectory {
            SymbolicLink("below/x", to: "y"); SymbolicLink("below/z", to: "y")
        }
        let target = try filesystem(.tmpfs).root
        let left = ".resval-restore-1"
        try Tree {
            File("below/x", "text"); SymbolicLink("below/\(left)", to: "y")
        }.create(in: target)
        try tool("mkfifo", target.appending(left))
        var merger = TreeMerger(.replacing, asked: [Array("/".utf8)]) { false }
        try merger.merge(tree, into: OpenDirectory(at: target))
        #expect(merger.outcome.leftovers == [FilePath("/below/\(left)")])
        let stage = try RestoreStage(in: target, for: [])
        stage.remove()
        #expect(stage.leftovers == [target.appending(left)])
    }

    @Test("an item does not replace another one of the snapshot, whose name is the same there")
    func sameName() throws {
        let base = try temporaryDirectory()
        let (tree, target) = (base.appending("tree"), base.appending("target"))
        try shell("mkdir \"$1\" \"$2\"; echo one > \"$1/A\"; echo two > \"$1/a\"", tree, target)
        var steps = 0
        var merger = TreeMerger(.replacing, asked: [Array("/".utf8)]) {
            steps += 1
            // As where names ignore case.
            if steps == 2 { _ = try? tool("mv", target.appending("A"), target.appending("a")) }
            return false
        }
        try merger.merge(tree, into: OpenDirectory(at: target))
        #expect(merger.outcome.failures.map(\.path) == [Array("/a".utf8)])
        #expect(try contentsOfFile(target.appending("a")) == Array("one\n".utf8))
    }

    private static let tree = Tree {
        File("victim", "text")
        File("target/directory/file", "text")
        SymbolicLink("target/link", to: "directory")
    }

    @Test("a path that leads up or through a link is refused, and one that leads down is found")
    func paths() throws {
        let root = try temporaryDirectory(containing: Self.tree)
        let tree = try OpenDirectory(at: root.appending("target"))
        for path in ["/../victim", "/directory/../../victim", "/directory/..", "/", "file"] {
            #expect(throws: Errno.invalidArgument, "\(path)") {
                _ = try tree.parent(of: Array(path.utf8))
            }
        }
        #expect(throws: Errno.notDirectory) {
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

    @Test("what is mounted below the target belongs to it")
    func mounts() throws {
        try require(.root)
        let volume = try filesystem(.tmpfs) { File("file", "text") }
        let tree = try OpenDirectory(at: volume.root.removingLastComponent())
        let name = try #require(volume.root.lastComponent)
        let found = try tree.parent(of: Array("/\(name)/file".utf8)).directory
        try #expect(found.status().identity == volume.root.status().identity)
    }
}
