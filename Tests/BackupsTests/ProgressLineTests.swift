import Testing

@testable import Backups

@Suite("What restic prints of its progress")
struct ProgressLineTests {
    private func progress(_ line: String) -> BackupProgress? {
        BackupProgress(line: line)
    }

    @Test("counts are read")
    func counts() {
        let packs = progress("[0:05] 15.00%  3 / 20 packs")
        #expect(packs?.noun.description == "packs")
        #expect(packs?.filesDone == 3)
        #expect(packs?.filesTotal == 20)
        #expect(
            progress("[1:02:05] 100.00%  1 / 1 snapshots")?.noun.description == "snapshots checked")
        #expect(progress("[0:00] 100.00%  2 / 2 index files")?.noun.description == "steps")
    }

    @Test(
        "anything else is passed on",
        arguments: [
            "", "[", "done", "no errors were found", "[0:05] 15.00%  3 / 20", "[0:05] 3 20 packs",
            "[0:05] 15.00%  30 / 20 packs", "[0:05] 15.00%  -3 / 20 packs",
            "[0:05] 15.00%  99999999999999999999 / 20 packs", "pack 3 / 20 15.00% [0:05] packs",
        ])
    func others(line: String) throws {
        #expect(progress(line) == nil)
        var lines = TextLines { _ in Issue.record("reported") }
        try lines.receive(line: Array(line.utf8)[...])
        #expect(lines.lines == (line.isEmpty ? [] : [line]))
    }
}
