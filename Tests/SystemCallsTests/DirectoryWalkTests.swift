import SystemPackage
import TestSupport
import Testing

@testable import SystemCalls

@Suite("A walk of a directory", .cleansUp)
struct DirectoryWalkTests {
    private func makeWalk(_ root: FilePath) throws -> DirectoryWalk<Int> {
        let directory = try OpenDirectory(at: root, flags: .readOnly)
        return DirectoryWalk(
            in: directory, path: root.bytes, names: try directory.names().inByteOrder(), context: 0)
    }

    /// Enters an entry that is a directory.
    ///
    /// - Returns: false for anything else.
    private func enter(_ name: FilePath, _ walk: inout DirectoryWalk<Int>) throws -> Bool {
        guard try walk.directory.status(of: name).kind == .directory else { return false }
        let opened = try walk.directory.openDirectory(name)
        walk.enter(opened, names: try opened.names().inByteOrder(), context: walk.context + 1)
        return true
    }

    @Test("meets each entry below it once, and the end of each directory after what is in it")
    func order() throws {
        let root = try temporaryDirectory {
            File("a/b/f")
            File("a/c")
            Directory("d")
            SymbolicLink("e", to: "a")
        }
        var walk = try makeWalk(root)
        var steps: [String] = []
        while let step = try walk.next() {
            switch step {
            case .entry(let name):
                let path = walk.path(of: name).dropFirst(root.length)
                steps.append(String(decoding: path, as: UTF8.self))
                _ = try enter(name, &walk)
            case .end(let name, let context):
                #expect(context == walk.context + 1)
                #expect(walk.depth == walk.context)
                steps.append("\(name).")
            }
        }
        #expect(steps == ["/a", "/a/b", "/a/b/f", "b.", "/a/c", "a.", "/d", "d.", "/e"])
        #expect(walk.path == root.bytes)
    }

    @Test("names are returned as bytes, again after they were read, and in order")
    func names() throws {
        let root = try temporaryDirectory(
            containing: Tree { for name in HostileNames.all { File(name) } }
        )
        let directory = try OpenDirectory(at: root, flags: .readOnly)
        let expected = HostileNames.all.map(\.bytes)
            .sorted { $0.lexicographicallyPrecedes($1) }
        for _ in 1...2 {
            try #expect(directory.names().inByteOrder().map(\.bytes) == expected)
        }
        #expect(EntryNames().inByteOrder().map(\.bytes) == [])
    }

    @Test("goes down 5000 levels and back with few descriptors")
    func deep() throws {
        let root = try temporaryDirectory {
            NestedDirectories("deep", depth: 5000) { File("deepest") }
        }
        var walk = try makeWalk(root)
        let first = walk.directory.descriptor.rawValue
        var (deepest, ends, highest) = (0, 0, first)
        while let step = try walk.next() {
            switch step {
            case .entry(let name):
                if try !enter(name, &walk) { deepest = walk.depth }
            case .end: ends += 1
            }
            highest = max(highest, walk.directory.descriptor.rawValue)
        }
        #expect(deepest == 5000)
        #expect(ends == 5000)
        // Other tests open files at the same time.
        #expect(highest < first + 1000)
    }

    /// Walks forty levels and moves the directory at one of them when the lowest is reached.
    private func meanwhile(
        moving level: Int, in root: FilePath, _ body: (FilePath) throws -> Void
    ) throws -> (errors: [Errno], last: [String]) {
        var walk = try makeWalk(root)
        var (errors, files): ([Errno], [String]) = ([], [])
        var path = root
        for _ in 0..<level { path.append("d") }
        var isAtWork = true
        while isAtWork {
            do throws(Errno) {
                guard let step = try walk.next() else {
                    isAtWork = false
                    continue
                }
                guard case .entry(let name) = step else { continue }
                let isEntered = (try? enter(name, &walk)) ?? false
                if !isEntered { files.append("\(walk.depth)") }
                if walk.depth == 40 { try? body(path) }
            } catch {
                errors.append(error)
            }
        }
        return (errors, files)
    }

    /// Directories in each other, each with a file that comes after it.
    private func makeLevels(_ count: Int, in root: FilePath) throws {
        var path = root
        for _ in 0..<count {
            try Tree {
                Directory("d")
                File("e")
            }.create(in: path)
            path.append("d")
        }
    }

    @Test("finds its way back by name from a directory that was moved elsewhere")
    func movedAway() throws {
        let root = try temporaryDirectory()
        try makeLevels(40, in: root)
        let elsewhere = root.appending("elsewhere")
        let found = try meanwhile(moving: 20, in: root) { path in
            try tool("mv", path, elsewhere)
        }
        #expect(found.errors.isEmpty)
        #expect(found.last == (0..<40).reversed().map { "\($0)" })
    }

    @Test("leaves out only the rest of a directory that it cannot return to")
    func lost() throws {
        let root = try temporaryDirectory()
        try makeLevels(40, in: root)
        // The directory at level 20 is replaced, so that neither `..` nor its name leads to it.
        let found = try meanwhile(moving: 20, in: root) { path in
            try tool("mv", path.appending("d"), root.appending("below"))
            try tool("mv", path, root.appending("elsewhere"))
            try tool("mkdir", path)
        }
        #expect(found.errors == [.staleNFSFileHandle])
        let kept = (0..<40).filter { $0 != 20 }.reversed().map { "\($0)" }
        #expect(found.last == kept)
    }
}
