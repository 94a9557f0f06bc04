import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Eviction

@Suite("The journal of evicted files")
struct JournalTests {
    private func record(
        _ identity: FileIdentity, _ path: FilePath = "/home/me/file"
    ) -> EvictedFile {
        EvictedFile(
            state: .held, path: path, identity: identity, size: 5,
            modified: FileTime(seconds: 1, nanoseconds: 2), permissions: 0o644,
            content: ContentHash(of: []), snapshot: "a", pinTag: "b", repository: [])
    }

    private let identity = FileIdentity(device: 7, inode: 9)

    @Test("what is stored is found by inode and device, replaced and removed")
    func storing() throws {
        try withTemporaryDirectory { root in
            let journal = Journal(stateHome: root.appending("state"))
            #expect(try journal.contents().files.isEmpty)
            #expect(try journal.record(named: identity) == nil)
            try journal.store(record(identity))
            try journal.store(record(identity).inState(.punching))
            #expect(try journal.record(named: identity)?.state == .punching)
            #expect(try journal.contents().files == [record(identity).inState(.punching)])
            #expect(try journal.directory.status().permissions == 0o700)
            try journal.removeRecord(of: identity)
            try journal.removeRecord(of: identity)
            #expect(try journal.contents().files.isEmpty)
        }
    }

    @Test("why a download failed, and where repositories are, is noted and forgotten")
    func notes() throws {
        try withTemporaryDirectory { root in
            let journal = Journal(stateHome: root.appending("state"))
            #expect(try journal.downloads.failure(of: identity) == nil)
            try journal.downloads.note(nil, of: identity)
            try journal.downloads.note("no repository", of: identity)
            #expect(try journal.downloads.failure(of: identity) == "no repository")
            try journal.downloads.note(nil, of: identity)
            #expect(try journal.downloads.failure(of: identity) == nil)
            let repository = "fedcba9876543210"
            #expect(try journal.location(of: repository) == nil)
            for location in ["/a", "/b"] {
                try journal.note(repository: repository, at: Array(location.utf8))
                #expect(try journal.location(of: repository) == Array(location.utf8))
            }
            let contents = try journal.contents()
            #expect(contents.files.isEmpty && contents.unreadable.isEmpty)
        }
    }

    @Test("a file whose device has another number is found by inode and path, and by nothing less")
    func otherDevice() throws {
        try withTemporaryDirectory(containing: Tree { File("file") }) { root in
            let file = root.appending("file")
            let status = try file.status()
            let journal = Journal(stateHome: root.appending("state"))
            let (device, inode) = (status.identity.device, status.identity.inode)
            try journal.store(record(FileIdentity(device: device + 1, inode: inode), file))
            #expect(try journal.record(of: status, at: file) != nil)
            #expect(try journal.record(of: status, at: "/copy") == nil)
            try journal.removeRecord(of: FileIdentity(device: device + 1, inode: inode))
            try journal.store(record(FileIdentity(device: device, inode: inode + 1), file))
            #expect(try journal.record(of: status, at: file) == nil)
        }
    }

    @Test("a record that makes no sense is reported, and does not hide the others")
    func malformed() throws {
        try withTemporaryDirectory { root in
            let journal = Journal(directory: root)
            try journal.store(record(identity))
            let other = FileIdentity(device: 7, inode: 10)
            try journal.store(record(other))
            let name = root.pushing(RecordName(other).path)
            try tool("truncate", "-s", "-1", name)
            let contents = try journal.contents()
            #expect(contents.files == [record(identity)])
            #expect(contents.unreadable.map(\.code) == [.malformedValue])
            #expect(contents.unreadable.map(\.path) == [name])
            // A record under another file's name is another file's record.
            try tool("cp", root.pushing(RecordName(identity).path), name)
            #expect(try journal.contents().unreadable.map(\.code) == [.malformedValue])
        }
    }

    @Test("a record is locked by one at a time, and free when that one goes")
    func locking() throws {
        try withTemporaryDirectory { root in
            let journal = Journal(directory: root)
            var first = try journal.lock(identity)
            #expect(first != nil)
            #expect(try journal.lock(identity) == nil)
            #expect(try journal.lock(FileIdentity(device: 7, inode: 10)) != nil)
            first = nil
            #expect(try journal.lock(identity) != nil)
            withExtendedLifetime(first) {}
        }
    }
}
