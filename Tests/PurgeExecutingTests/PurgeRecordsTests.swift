import EffectiveValues
import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("What a purge that was cut off left, by its journal", .cleansUp)
struct PurgeRecordsTests {
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
        let home = try purgeHome {}
        func record(_ parent: String, _ name: String, _ aside: String) -> AsideRecord {
            AsideRecord(
                .deleting, parentPath: Array(parent.utf8), name: Array(name.utf8),
                asideName: Array(aside.utf8))
        }
        let good = record("/a", "unit", ".resval-purge-1")
        try PurgeJournal(in: home.state).store([good])
        #expect(try PurgeJournal(in: home.state).records == [good])
        try tool("rm", home.state.appending("journal"))
        try PurgeJournal(in: home.state).store([record(parent, name, aside)])
        #expect(try PurgeJournal(in: home.state).records.isEmpty)
    }

    @Test("is known from a journal whose numbers begin again at 0")
    func lastNumber() throws {
        let (home, record, _) = try unitPutAside(.aside)
        let last = JournalContents(sequence: .max, records: [record])
        let bytes = try #require(last.bytes(upTo: PurgeJournal.slotSize))
        try bytes.withUnsafeBytes { bytes in
            try home.state.appending("journal").writeFile(bytes)
        }
        let journal = try PurgeJournal(in: home.state)
        #expect(journal.records == [record])
        var next = record
        next.state = .deleting
        try journal.store([next])
        #expect(
            JournalContents(sequence: .max, records: []).isOlder(
                than: JournalContents(sequence: 0, records: [AsideRecord()])))
    }

    @Test("is not looked for in the state of another user")
    func foreignState() throws {
        try require(.root)
        let (home, record, _) = try unitPutAside(.deleting)
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

    @Test(
        "is known again from either place of a journal whose last write was cut off or mixed up",
        arguments: [
            "dd if=/dev/urandom of=\"$1\" bs=1 seek=40 count=20 conv=notrunc status=none",
            // What is written there is a record, but not the one that was.
            #"sed -i '2s/"name":"unit"/"name":"unix"/' "$1""#,
        ])
    func tornJournal(damage: String) throws {
        let (home, record, _) = try unitPutAside(.aside)
        var deleting = record
        (deleting.state, deleting.knownInodes) = (.deleting, [1, .max])
        try PurgeJournal(in: home.state).store([deleting])
        // The second record is in the first place.
        try shell(damage, home.state.appending("journal"))
        let records = try PurgeJournal(in: home.state).records
        #expect(records == [record])
    }

    @Test("is known from a journal for which there was no room but for its records")
    func shortJournal() throws {
        let (home, record, _) = try unitPutAside(.aside)
        let journal = home.state.appending("journal")
        // The first record is in the second place.
        try tool("truncate", "-s", "\(PurgeJournal.slotSize + 1000)", journal)
        #expect(try PurgeJournal(in: home.state).records == [record])
        #expect(try journal.status().size == Int64(2 * PurgeJournal.slotSize))
        try expectFinish(home, [home(".cache/app/unit"): .restored])
    }

    @Test("has one record for each directory put aside")
    func journal() throws {
        let home = try purgeHome {}
        let journal = try PurgeJournal(in: home.state)
        func record(_ name: String) -> AsideRecord {
            AsideRecord(
                state: .aside,
                identity: PersistentIdentity(
                    filesystem: .named([0xFF]), inode: .max,
                    creationTime: FileTime(seconds: .min, nanoseconds: 1)),
                parent: PersistentIdentity(FileIdentity(device: 1, inode: 2)),
                parentPath: Array("/a\n".utf8),
                name: [0xFF], asideName: AsideName.prefix + Array(name.utf8),
                newestChange: FileTime(seconds: -5, nanoseconds: 999_999_999),
                knownInodes: name == "a" ? [0, .max] : nil)
        }
        for name in ["a", "b", "c"] { try journal.store([record(name)]) }
        try journal.remove([record("b")])
        let long = AsideRecord(parentPath: [UInt8](repeating: 65, count: PurgeJournal.slotSize))
        #expect(throws: FileError.self) { try journal.store([long]) }
        #expect(journal.records == [record("a"), record("c")])
        var large = record("d")
        large.knownInodes = Set(1...20_000)
        try journal.store([large])
        large.knownInodes = nil
        let records = [record("a"), record("c"), large]
        #expect(journal.records == records)
        let contents = JournalContents(sequence: 1, records: records)
        let bytes = try #require(contents.bytes(upTo: PurgeJournal.slotSize))
        #expect(JournalContents(bytes)?.records == records)
    }
}
