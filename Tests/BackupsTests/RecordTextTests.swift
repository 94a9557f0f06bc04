import SystemCalls
import SystemPackage
import Testing

@testable import Backups

@Suite("The text of a snapshot's record")
struct RecordTextTests {
    private var record: SnapshotRecord {
        var snapshot = RecordedSnapshot(number: 7, date: 5)
        (snapshot.predecessorDate, snapshot.inOrder, snapshot.judged) = (-3, 2, 6)
        var source = RecordedSource(path: Array("/s".utf8) + [0xFF, 0x0A])
        source.expected = Amount(items: 3, bytes: 4)
        // More than there was of it.
        source.expected.subtract(Amount(items: 5, bytes: 1))
        (source.fall, source.named) = (.items, 9)
        snapshot.sourceFacts = [source]
        snapshot.holds = [
            Hold(number: 1, kind: .clock, since: -1),
            Hold(number: 2, kind: .other, since: .max, part: Array("/s/\u{FFFD}".utf8)),
        ]
        snapshot.unstored = PathSet([Array("/s/a".utf8)])
        var record = SnapshotRecord()
        record.compare(snapshot, in: SnapshotSet(identifier: "a", configuration: "b"))
        record.verdict = Verdict(snapshot: "ab", isComplete: false)
        return record
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
