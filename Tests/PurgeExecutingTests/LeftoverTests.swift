import EffectiveValues
import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("What a purge that was cut off left")
struct LeftoverTests {
    @Test("is left alone and reported when the journal does not name it")
    func stranger() throws {
        let tree = Tree {
            Directory(".cache") {
                Directory(".resval-purge-first") { File("file", block) }
                Directory("app") {
                    File("file", block)
                    Directory(".resval-purge-second") { File("file", block) }.purgeable()
                    Directory("unit") { Directory(".resval-purge-third") { File("file", block) } }
                }
            }
        }
        try withPurgeHome(tree) { home in
            let report = try home.purge()
            #expect(report.removed == [home(".cache/app/file")])
            #expect(
                report.leftovers == [
                    home(".cache/app/.resval-purge-second"): .leftAlone(.unrecorded)
                ])
            for path in [
                ".cache/.resval-purge-first", ".cache/app/.resval-purge-second",
                ".cache/app/unit/.resval-purge-third",
            ] {
                #expect(home(path + "/file").exists)
            }
        }
    }

    /// Calls `body` with a unit put aside and a journal that says so.
    private func withRecord(
        _ state: AsideRecord.State, knowsInodes: Bool = true,
        _ body: (PurgeFixture, AsideRecord) throws -> Void
    ) throws {
        let tree = cache("unit") {
            File("file", block)
            Directory("deep") { File("file", block) }
        }
        let documents = Directory("Documents") { File("old", block) }
        try withPurgeHome(
            Tree {
                documents
                tree
            }
        ) { home in
            let unit = home(".cache/app/unit")
            let inodes = try ["", "deep"].map { try unit.appending($0).status().identity.inode }
            let filesystems = MountedFilesystems()
            let record = AsideRecord(
                state: state, identity: filesystems.identity(of: try unit.status()),
                parent: filesystems.identity(of: try home(".cache/app").status()),
                parentPath: home(".cache/app").bytes, name: Array("unit".utf8),
                asideName: AsideName.make(),
                newestChange: try unit.appending("deep/file").status().attributeModificationTime,
                knownInodes: state == .deleting && knowsInodes ? Set(inodes) : nil)
            try PurgeJournal(in: home.state).store(record)
            try tool("mv", unit, FilePath(bytes: record.asidePath))
            try body(home, record)
        }
    }

    /// Finishes what was left, and expects this to become of it.
    private func expectFinish(
        _ home: PurgeFixture, _ expected: [FilePath: LeftoverState],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var report = PurgeReport()
        try home.executor().finishLeftovers { report.add($0) }
        #expect(report.leftovers == expected, sourceLocation: sourceLocation)
        let records = try PurgeJournal(in: home.state).records
        if expected.isEmpty { #expect(records == [], sourceLocation: sourceLocation) }
    }

    @Test("is finished when it was being removed")
    func deleting() throws {
        try withRecord(.deleting) { home, record in
            try expectFinish(home, [home(".cache/app/unit"): .finished])
            #expect(!FilePath(bytes: record.asidePath).exists)
            try expectFinish(home, [:])
        }
    }

    @Test("gets its name back when it was only put aside, unless something has the name")
    func aside() throws {
        try withRecord(.aside) { home, record in
            try expectFinish(home, [home(".cache/app/unit"): .restored])
            #expect(home(".cache/app/unit/deep/file").exists)
        }
        try withRecord(.aside) { home, record in
            try tool("mkdir", home(".cache/app/unit"))
            let aside = FilePath(bytes: record.asidePath)
            try expectFinish(home, [aside: .leftAlone(.nameTaken)])
            #expect(aside.appending("deep/file").exists)
            try tool("rmdir", home(".cache/app/unit"))
            try expectFinish(home, [home(".cache/app/unit"): .restored])
        }
    }

    @Test("is still in the journal when a directory that took its name kept it aside")
    func nameTaken() throws {
        try withPurgeHome(Tree { cache("unit") { File("file", block) } }) { home in
            let unit = home(".cache/app/unit")
            let mock = SystemCallMock([:])
            defer { mock.beforeCall = nil }
            var aside: FilePath?
            mock.beforeCall = { call in
                guard call == .flock, !unit.exists, aside == nil else { return }
                let names = try? OpenDirectory(at: home(".cache/app")).openToRead(".").names()
                guard let names else { return }
                for name in names { aside = home(".cache/app").appending(name.components) }
                // The second examination finds a change.
                if let aside { _ = try? tool("touch", aside.appending("new")) }
                _ = try? tool("mkdir", unit)
            }
            let report = try mock.run { try home.purge() }
            let kept = try #require(aside)
            #expect(report.failed.keys.contains(unit), "\(report)")
            #expect(kept.appending("file").exists)
            try expectFinish(home, [kept: .leftAlone(.nameTaken)])
            try tool("rmdir", unit)
            try expectFinish(home, [unit: .restored])
            #expect(unit.appending("file").exists)
        }
    }

    @Test("is left alone when it is another directory, or in another one")
    func other() throws {
        try withRecord(.deleting) { home, record in
            let aside = FilePath(bytes: record.asidePath)
            try tool("mv", aside, home("moved"))
            try tool("cp", "-a", home("moved"), aside)
            try expectFinish(home, [aside: .leftAlone(.unidentified)])
            #expect(aside.appending("deep/file").exists)
        }
        try withRecord(.deleting) { home, record in
            try tool("mv", home(".cache/app"), home("moved"))
            try tool("cp", "-a", home("moved"), home(".cache/app"))
            try expectFinish(home, [FilePath(bytes: record.asidePath): .leftAlone(.unreachable)])
            #expect(FilePath(bytes: record.asidePath).appending("deep/file").exists)
        }
    }

    @Test("is finished from where it was cut off, unless that cannot be told from a stranger's")
    func begun() throws {
        try withRecord(.deleting) { home, record in
            try tool("rm", FilePath(bytes: record.asidePath).appending("deep/file"))
            try expectFinish(home, [home(".cache/app/unit"): .finished])
        }
        try withRecord(.deleting, knowsInodes: false) { home, record in
            usleep(20_000)
            try tool("rm", FilePath(bytes: record.asidePath).appending("deep/file"))
            let aside = FilePath(bytes: record.asidePath)
            // Each run says so, until it is gone.
            for _ in 0..<2 { try expectFinish(home, [aside: .partlyRemoved]) }
            #expect(aside.appending("deep").exists)
            #expect(!home(".cache/app/unit").exists)
            try tool("rm", "-r", aside)
            try expectFinish(home, [:])
        }
    }

    @Test("keeps what was moved into it since", arguments: [true, false])
    func movedIn(knowsInodes: Bool) throws {
        try withRecord(.deleting, knowsInodes: knowsInodes) { home, record in
            usleep(20_000)
            try tool("mkdir", "-p", home("Documents/inner"))
            let aside = FilePath(bytes: record.asidePath)
            try tool("cp", aside.appending("file"), home("Documents/document"))
            try tool("touch", "-d", "@1000000000", home("Documents/inner"))
            try tool("mv", home("Documents"), aside.appending("deep"))
            // As if something had been removed from it by the purge that was cut off.
            try tool("touch", aside.appending("deep/Documents/new"))
            try expectFinish(home, [aside: .partlyRemoved])
            #expect(aside.appending("deep/Documents/inner").exists)
            #expect(aside.appending("deep/Documents/old").exists)
            #expect(!aside.appending("file").exists)
            #expect(!home(".cache/app/unit").exists)
        }
    }

    @Test("stays when it is protected by now, or on the way to what is")
    func protected() throws {
        for name in ["", "deep"] {
            try withRecord(.deleting) { home, record in
                let aside = FilePath(bytes: record.asidePath)
                var search = home.search()
                search.protected = [aside.appending(name)]
                var report = PurgeReport()
                try home.executor(search).finishLeftovers { report.add($0) }
                #expect(report.leftovers == [aside: .leftAlone(.protected)])
                #expect(aside.appending("deep/file").exists)
                try expectFinish(home, [home(".cache/app/unit"): .finished])
            }
        }
    }

    private static let forgeries: [(String, String, String)] = [
        ("/a", "unit", "Documents"), ("/a", "unit", ".resval-purge-x/../../Documents"),
        ("/a", "unit", ".resval-purge-/x"), ("/a", "../x", ".resval-purge-1"),
        ("/a", "", ".resval-purge-1"), ("/a", "..", ".resval-purge-1"),
        ("a", "unit", ".resval-purge-1"), ("/a/../b", "unit", ".resval-purge-1"),
        ("/a//b", "unit", ".resval-purge-1"), ("/a", "u\0", ".resval-purge-1"),
    ]

    @Test(
        "is not believed in a record with any other path than the purger's own",
        arguments: forgeries)
    func forged(parent: String, name: String, aside: String) throws {
        try withPurgeHome(Tree {}) { home in
            func record(_ parent: String, _ name: String, _ aside: String) -> AsideRecord {
                AsideRecord(
                    state: .deleting,
                    identity: PersistentIdentity(FileIdentity(device: 1, inode: 2)),
                    parent: PersistentIdentity(FileIdentity(device: 1, inode: 3)),
                    parentPath: Array(parent.utf8),
                    name: Array(name.utf8), asideName: Array(aside.utf8), newestChange: .later)
            }
            let good = record("/a", "unit", ".resval-purge-1")
            try PurgeJournal(in: home.state).store(good)
            #expect(try PurgeJournal(in: home.state).records == [good])
            try tool("rm", home.state.appending("journal"))
            try PurgeJournal(in: home.state).store(record(parent, name, aside))
            #expect(try PurgeJournal(in: home.state).records.isEmpty)
        }
    }

    @Test("is known from a journal whose numbers begin again at 0")
    func lastNumber() throws {
        try withRecord(.aside) { home, record in
            let last = JournalContents(sequence: .max, records: [record])
            let bytes = try #require(last.bytes(upTo: 1 << 16))
            try bytes.withUnsafeBytes { bytes in
                try home.state.appending("journal").writeFile(bytes)
            }
            let journal = try PurgeJournal(in: home.state)
            #expect(journal.records == [record])
            var next = record
            next.state = .deleting
            try journal.store(next)
        }
        try withPurgeHome(Tree {}) { home in
            let record = AsideRecord(
                state: .aside, identity: PersistentIdentity(FileIdentity(device: 1, inode: 2)),
                parent: PersistentIdentity(FileIdentity(device: 1, inode: 3)),
                parentPath: Array("/a".utf8),
                name: [65], asideName: AsideName.make(), newestChange: .later)
            #expect(
                JournalContents(sequence: .max, records: []).isOlder(
                    than: JournalContents(sequence: 0, records: [record])))
        }
    }

    @Test("is not looked for in the state of another user")
    func foreignState() throws {
        try require(.root)
        try withRecord(.deleting) { home, record in
            // Else no other user could reach the journal.
            try tool("chmod", "755", home.state)
            for path in [home.state, home.state.appending("journal")] {
                try tool("chown", "1234", path)
                let error = #expect(throws: FileError.self) {
                    try home.executor().finishLeftovers { _ in }
                }
                #expect(error?.path == path)
                try tool("chown", "0", path)
                try tool("chmod", "g+w", path)
                #expect(throws: FileError.self) { try home.executor().finishLeftovers { _ in } }
                try tool("chmod", "g-w", path)
            }
            #expect(FilePath(bytes: record.asidePath).appending("deep/file").exists)
        }
    }

    @Test("is known again from either place of a journal whose last write was cut off")
    func tornJournal() throws {
        try withRecord(.aside) { home, record in
            try PurgeJournal(in: home.state).store(
                AsideRecord(
                    state: .deleting, identity: record.identity, parent: record.parent,
                    parentPath: record.parentPath, name: record.name, asideName: record.asideName,
                    newestChange: record.newestChange, knownInodes: [1, .max]))
            // The second record is in the first place.
            try tool(
                "dd", "if=/dev/urandom", "of=\(home.state)/journal", "bs=1", "seek=40",
                "count=20", "conv=notrunc", "status=none")
            let records = try PurgeJournal(in: home.state).records
            #expect(records == [record])
        }
    }

    @Test("is known from a journal for which there was no room but for its records")
    func shortJournal() throws {
        try withRecord(.aside) { home, record in
            let journal = home.state.appending("journal")
            // The first record is in the second place.
            try tool("truncate", "-s", "\((1 << 16) + 1000)", journal)
            #expect(try PurgeJournal(in: home.state).records == [record])
            #expect(try journal.status().size == 1 << 17)
            try expectFinish(home, [home(".cache/app/unit"): .restored])
        }
    }

    @Test("has one record for each directory put aside")
    func journal() throws {
        try withPurgeHome(Tree {}) { home in
            let journal = try PurgeJournal(in: home.state)
            func record(_ name: String) -> AsideRecord {
                AsideRecord(
                    state: .aside,
                    identity: PersistentIdentity(
                        filesystem: .named([0xFF]), inode: .max,
                        creationTime: FileTime(seconds: .min, nanoseconds: 1)),
                    parent: PersistentIdentity(FileIdentity(device: 1, inode: 2)),
                    parentPath: Array("/a\n".utf8),
                    name: [0xFF], asideName: Array(name.utf8),
                    newestChange: FileTime(seconds: -5, nanoseconds: 999_999_999),
                    knownInodes: name == "a" ? [0, .max] : nil)
            }
            for name in ["a", "b", "c"] { try journal.store(record(name)) }
            try journal.remove(record("b"))
            let long = AsideRecord(
                state: .aside, identity: PersistentIdentity(FileIdentity(device: 1, inode: 3)),
                parent: PersistentIdentity(FileIdentity(device: 1, inode: 2)),
                parentPath: [UInt8](repeating: 65, count: 70_000), name: [65], asideName: [66],
                newestChange: .later)
            #expect(throws: FileError.self) { try journal.store(long) }
            #expect(journal.records == [record("a"), record("c")])
            var large = record("d")
            large.knownInodes = Set(1...20_000)
            try journal.store(large)
            large.knownInodes = nil
            #expect(journal.records == [record("a"), record("c"), large])
        }
    }
}
