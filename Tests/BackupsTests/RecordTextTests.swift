import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("The text of a snapshot's record")
struct RecordTextTests {
    private var record: SnapshotRecord {
        var snapshot = SnapshotRecord(number: 7, date: 5)
        (snapshot.predecessorDate, snapshot.inOrder, snapshot.judged) = (-3, 2, 6)
        var source = RecordedSource(path: Array("/s".utf8) + [0xFF, 0x0A])
        source.expected = Amount(items: 3, bytes: 4)
        // More than there was of it.
        source.expected.subtract(Amount(items: 5, bytes: 1))
        (source.fall, source.named) = (.items, 9)
        snapshot.sources = [source]
        snapshot.holds = [
            Hold(number: 1, kind: .clock, since: -1),
            Hold(number: 2, kind: .other, since: .max, part: Array("/s/\u{FFFD}".utf8)),
        ]
        snapshot.unstored = PathSet([Array("/s/a".utf8)])
        snapshot.set = "a-b"
        return snapshot.noted(Verdict(snapshot: "ab", isComplete: false))
    }

    @Test("what was written is read, whatever bytes and numbers it has")
    func again() throws {
        let read = try SnapshotRecord(text: record.text)
        #expect(read.text == record.text)
        #expect(read.sources == record.sources && read.holds == record.holds)
        #expect(read.sources.first?.expected == Amount(items: 0, bytes: 3))
        #expect(read.verdict?.isComplete == false && read.predecessorDate == -3)
    }

    @Test("one that ends early, lacks a line or has one more is damaged")
    func damaged() {
        let text = record.text
        let newline = UInt8(ascii: "\n")
        func isDamaged(_ text: [UInt8]) -> Bool {
            do throws(BackupError) {
                _ = try SnapshotRecord(text: text)
                return false
            } catch {
                return error.code == .damaged
            }
        }
        for count in 0..<(text.count - 1) { #expect(isDamaged(Array(text.prefix(count)))) }
        let lines = text.split(separator: newline).map { $0 + [newline] }
        for index in lines.indices {
            var fewer = lines
            fewer.remove(at: index)
            #expect(isDamaged(Array(fewer.joined())))
            var more = lines
            more.insert(lines[index], at: index)
            #expect(isDamaged(Array(more.joined())))
        }
        let fields = (0..<40).map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(isDamaged(Array("{\"type\":\"format\",\"version\":1,\(fields)}\n".utf8)))
    }

    @Test("one of a later version is named as such, and not read as damaged")
    func newer() {
        let text = "{\"type\":\"format\",\"version\":2}\n{\"type\":\"end\",\"lines\":2}\n"
        let error = #expect(throws: BackupError.self) { try SnapshotRecord(text: Array(text.utf8)) }
        #expect(error?.message.contains("newer resval-backup") == true)
    }
}

@Suite("Where a snapshot's record lies while restic stores it", .cleansUp)
struct RecordFileTests {
    private func record(
        _ base: FilePath, _ text: String = "text", in directory: String = "resval"
    ) throws -> RecordFile {
        try RecordFile(
            Array(text.utf8), name: "resval-record-0", in: [base.appending(directory)],
            below: [base.appending("missing"), base])
    }

    @Test("it has the same path in every run, private to the user, and goes in the end")
    func path() throws {
        let base = try temporaryDirectory()
        for _ in 0..<2 {
            let file = try record(base)
            #expect(file.path == base.appending("resval/resval-record-0"))
            #expect(try file.path.status().permissions == 0o600)
            let other = try record(base, "other")
            #expect(other.path == base.appending("resval/resval-record-0-1"))
            #expect(try contentsOfFile(file.path) == Array("text".utf8))
            withExtendedLifetime((file, other)) {}
        }
        #expect(try tool("ls", base.appending("resval")) == "")
    }

    @Test("what a killed run left is taken over, and what is in use stays")
    func leftovers() throws {
        let base = try temporaryDirectory()
        let left = base.appending("resval/resval-record-0")
        try tool("mkdir", "-m", "700", left.removingLastComponent())
        try shell(#"umask 077; echo a longer text > "$1""#, left)
        let file = try record(base)
        #expect(file.path == left)
        #expect(try contentsOfFile(left) == Array("text".utf8))
        withExtendedLifetime(file) {}
    }

    @Test(
        "where the state cannot be trusted or written, it is in a new directory",
        arguments: [
            "chown 54321 $1", "chmod 777 $1", "rmdir $1; ln -s /etc $1", "rmdir $1; touch $1",
            "mount -t tmpfs -o ro none $1", "mkfifo $1/resval-record-0; chown 54321 $1/*",
            "mount -t tmpfs -o size=4k none $1; cat /dev/zero > $1/filler 2>/dev/null; true",
        ])
    func taken(script: String) throws {
        try require(.root)
        let base = try temporaryDirectory()
        let state = base.appending("resval")
        try tool("mkdir", "-m", "700", state)
        try shell(script, state)
        defer { _ = try? shell(#"umount "$1" 2>/dev/null; true"#, state) }
        let file = try record(base)
        let directory = file.path.removingLastComponent()
        #expect(directory.removingLastComponent() == base, "\(file.path)")
        #expect(try directory.withoutFollowing.status().permissions == 0o700)
        #expect(try contentsOfFile(file.path) == Array("text".utf8))
        withExtendedLifetime(file) {}
        _ = consume file
        #expect(!directory.exists)
    }
}
