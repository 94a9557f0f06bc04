import SystemPackage
import TestSupport
import Testing

@testable import SystemCalls

@Suite("Files of state", .timeLimit(.minutes(5)), .cleansUp)
struct StateFileTests {
    /// The code of what the directory `state/resval/part` or a file in it is refused for; nil when it is
    /// taken.
    private func refusal(_ root: FilePath, _ name: String = "file") -> FileError? {
        do throws(FileError) {
            _ = try contentsOfStateFile(
                root.appending("state/resval/part").appending(name), limit: 4)
            return nil
        } catch {
            return error
        }
    }

    private static let tree = Tree {
        File("state/resval/part/file", "text")
        Fifo("state/resval/part/fifo")
        SymbolicLink("state/resval/part/link", to: "file")
        Directory("state/resval/part/directory")
        File("state/resval/part/open", "text").permissions(0o664)
        File("state/resval/part/long", "longer")
    }

    @Test("what only its owner can write is read; nothing else is, or is waited for")
    func kinds() throws {
        let root = try temporaryDirectory(containing: Self.tree)
        #expect(refusal(root) == nil)
        #expect(refusal(root, "absent") == nil)
        #expect(refusal(root, "fifo")?.message.contains("not a regular file") == true)
        #expect(refusal(root, "directory")?.message.contains("not a regular file") == true)
        #expect(refusal(root, "link")?.code == .symbolicLinkLoop)
        #expect(refusal(root, "open")?.code == .permissionDenied)
        #expect(refusal(root, "long")?.code == .tooLarge)
        let part = root.appending("state/resval/part")
        for name in ["fifo", "directory", "link", "open"] {
            #expect(throws: FileError.self) {
                try openStateFile(part.appending(name), makingIt: true)
            }
        }
    }

    @Test("a file in a directory that only its owner can enter counts, whatever its mode")
    func umask() throws {
        let root = try temporaryDirectory(containing: Self.tree)
        try tool("chmod", "700", root.appending("state/resval/part"))
        #expect(refusal(root, "open") == nil)
        try tool("ln", root.appending("state/resval/part/open"), root.appending("twin"))
        #expect(refusal(root, "open")?.code == .permissionDenied)
    }

    @Test("each directory up to the programs' own must be its user's alone, and is named")
    func directories() throws {
        for name in ["resval", "resval/part"] {
            let root = try temporaryDirectory(containing: Self.tree)
            let directory = root.appending("state").pushing(FilePath(name))
            try tool("chmod", "g+w", directory)
            #expect(refusal(root)?.path == directory)
            #expect(refusal(root)?.advice?.contains("chmod go-w") == true)
            #expect(throws: FileError.self) {
                try makeStateDirectory(root.appending("state/resval/part/more"))
            }
            try tool("chmod", "g-w", directory)
            try require(.root)
            try tool("chown", "1234", directory)
            #expect(refusal(root)?.path == directory)
            #expect(refusal(root)?.advice?.contains("sudo without -E") == true)
            try tool("chown", "0", directory)
            #expect(refusal(root) == nil)
            try tool("mv", directory, root.appending("moved"))
            try tool("ln", "-s", root.appending("moved"), directory)
            #expect(refusal(root)?.code == .notADirectory)
        }
    }

    @Test("root makes no directory in another user's, nor through a link of one")
    func foreignPlace() throws {
        try require(.root)
        let root = try temporaryDirectory {
            Directory("home") { SymbolicLink("state", to: "../own").owned(by: 1234) }
                .owned(by: 1234)
            Directory("own")
        }
        for path in ["home/.local/state/resval", "home/state/resval"] {
            #expect(throws: FileError.self) {
                try makeStateDirectory(root.pushing(FilePath(path)))
            }
        }
        let made = try tool("find", root, "-mindepth", "1", "-type", "d", "-printf", "%P ")
        #expect(made == "own home " || made == "home own ")
        try makeStateDirectory(root.appending("own/state/resval"))
        #expect(try root.appending("own/state/resval").status().permissions == 0o700)
    }
}
