import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Eviction

@Suite("Placeholders met on a walk")
struct IndexTests {
    @Test("a journal is about its owner's files only")
    func owner() throws {
        try require(.root)
        try withFile { fixture in
            try fixture.evict()
            try fixture.expectPlaceholder()
            try tool("chown", "1234", fixture.journal.directory)
            let index = try EvictedIndex([fixture.journal])
            let status = try fixture.file.status()
            #expect(index.placeholder(fixture.file, status, at: fixture.file) == nil)
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
