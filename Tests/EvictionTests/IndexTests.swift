import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Eviction

@Suite("Placeholders met on a walk")
struct IndexTests {
    /// Calls `body` with an evicted file of root's, and the only record of it in the home of another user.
    private func withForeignRecord(
        _ body: (EvictionFixture, _ home: FilePath) throws -> Void
    ) throws {
        try require(.root)
        try withFile { fixture in
            try fixture.evict()
            try fixture.expectPlaceholder()
            let home = fixture.root.removingLastComponent().appending("home")
            try tool("mkdir", "-p", home.appending(".local"))
            try tool(
                "mv", fixture.root.removingLastComponent().appending("state"),
                home.appending(".local/state"))
            try tool("chown", "-R", "1234:1234", home)
            try body(fixture, home)
        }
    }

    @Test("another user's journal is about that user's files only")
    func owner() throws {
        try withForeignRecord { fixture, home in
            var index = EvictedIndex()
            index.add(try Journal.contents(below: home, ownedBy: 1234))
            #expect(index.records.count == 1 && index.unreadable.isEmpty)
            let status = try fixture.file.status()
            #expect(index.placeholder(fixture.file, status, at: fixture.file) == nil)
            try tool("chown", "1234", fixture.file)
            let given = try fixture.file.status()
            #expect(index.placeholder(fixture.file, given, at: fixture.file) != nil)
            #expect(index.isKept(index.records[0]))
            index.foundHolds = []
            #expect(!index.isKept(index.records[0]))
            // As one's own, it is not believed.
            let own = Journal(stateHome: home.appending(".local/state"))
            let error = #expect(throws: FileError.self) { try own.contents() }
            #expect(error?.code == .permissionDenied)
        }
    }

    @Test(
        "a journal that is a link, or whose owner is another than the home's, says nothing of root's files"
    )
    func link() throws {
        try withForeignRecord { fixture, home in
            let evicted = home.appending(".local/state/resval/evicted")
            let shared = home.removingLastComponent().appending("shared")
            try tool("mv", evicted, shared)
            try tool("chown", "0", shared)
            try tool("ln", "-s", shared, evicted)
            #expect(throws: FileError.self) { try Journal.contents(below: home, ownedBy: 1234) }
            try tool("rm", evicted)
            try tool("mv", shared, evicted)
            #expect(throws: FileError.self) { try Journal.contents(below: home, ownedBy: 1234) }
        }
    }

    @Test("of another user's journal neither more is read nor more is told than an honest one has")
    func limits() throws {
        try withForeignRecord { fixture, home in
            let evicted = home.appending(".local/state/resval/evicted")
            try tool(
                "sh", "-c",
                #"cd "$0" && for n in 1 2 3 4 5 6 7 8 9 a b c d; do mkfifo 000000000000000$n-0000000000000001; done; chown 1234 *"#,
                evicted)
            let contents = try Journal.contents(below: home, ownedBy: 1234)
            #expect(contents.files.count == 1)
            #expect(contents.unreadable.count == 10)
        }
    }

    @Test("who may not open a placeholder knows it by its size on the disk")
    func unreadable() throws {
        try withFile { fixture in
            try fixture.evict()
            let status = try fixture.file.status()
            let index = try EvictedIndex([fixture.journal])
            let mock = SystemCallMock([.openat: [.permissionDenied, .permissionDenied]])
            try mock.run {
                #expect(index.placeholder(fixture.file, status, at: fixture.file) != nil)
                try tool("chmod", "600", fixture.file)
            }
            // A file that takes more than the placeholder did has data.
            try tool("sh", "-c", #"printf x | dd of="$0" conv=notrunc 2>&1"#, fixture.file)
            try tool("touch", "-d", "@1234567890.987654321", fixture.file)
            let changed = try fixture.file.status()
            let other = SystemCallMock([.openat: [.permissionDenied]])
            #expect(
                other.run { index.placeholder(fixture.file, changed, at: fixture.file) } == nil)
        }
    }

    @Test("no journal, no placeholders; one that cannot be read is an error")
    func missing() throws {
        try withTemporaryDirectory(containing: Tree { File("resval", "") }) { root in
            let index = try EvictedIndex([Journal(stateHome: root.appending("nothing"))])
            #expect(index.isEmpty)
            #expect(throws: FileError.self) { try EvictedIndex([Journal(stateHome: root)]) }
        }
    }
}
