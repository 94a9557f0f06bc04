import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Eviction

@Suite("Evicted files of a filesystem that is mounted anew")
struct RemountTests {
    @Test("are recognised under another device number and another name, and brought back")
    func remounted() throws {
        try withRemountedFilesystem(.ext4) { filesystem in
            try withFile(in: filesystem.root) { fixture in
                try fixture.evict()
                try tool("mv", fixture.file, filesystem.root.appending("moved"))
                try filesystem.remount()
                let moved = filesystem.root.appending("moved")
                try fixture.expectPlaceholder(moved)
                try fixture.download(moved)
                try tool("mv", moved, fixture.file)
                try fixture.expectWhole()
            }
        }
    }

    @Test("keep their records when a file of another filesystem has their numbers")
    func replaced() throws {
        try withRemountedFilesystem(.ext4) { filesystem in
            try withFile(in: filesystem.root) { fixture in
                try fixture.evict()
                let identity = try fixture.file.status().identity
                // As an older version left it.
                let known = try fixture.known(fixture.file)
                try fixture.journal.store(
                    EvictedFile(
                        path: fixture.file, status: fixture.file.status(),
                        content: known.content, snapshot: known.snapshot,
                        pinTag: known.pinTag, repository: known.repository
                    ).inState(.evicted))
                let records = try fixture.journal.contents().files
                try filesystem.replace()
                let other = filesystem.root.appending("other")
                try Tree { File("other", fixture.content + [0]) }.create(in: filesystem.root)
                try #require(other.status().identity == identity)
                #expect(throws: EvictionError.self) {
                    try fixture.evict(
                        fixture.journal.candidate(at: other), content: fixture.content + [0])
                }
                #expect(try fixture.journal.contents().files == records)
                #expect(try contentsOfFile(other) == fixture.content + [0])
                #expect(try fixture.begin(other) == nil)
            }
        }
    }
}
