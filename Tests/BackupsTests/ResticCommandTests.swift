import SystemCalls
import SystemPackage
import Testing

@testable import Backups

@Suite("What others wrote in a repository, before restic is told of it")
struct ResticCommandTests {
    private func text(_ command: ResticCommand) -> [String] {
        command.arguments(opening: []).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("operands stand behind --, and an option is one word with its value")
    func arguments() {
        let command = ResticCommand(
            "dump", [option("--tag", "--json")], on: words("--password-command=/bin/false"))
        #expect(text(command) == ["dump", "--tag=--json", "--", "--password-command=/bin/false"])
        #expect(text(ResticCommand("prune")) == ["prune"])
    }

    @Test(
        "a record's tag counts only when it names a record by an absolute path that leads down",
        arguments: [
            "--password-command=/usr/bin/touch%20/tmp/resval-record-0", "resval-record-0",
            "/tmp/../home/resval-record-0", "/tmp//resval-record-0", "/tmp/resval-record-0/",
            "/tmp/resval-record-0%00", "/tmp/resval-record-0/..", "/home/ada/.ssh/authorized_keys",
            "/", "",
        ])
    func recordTags(path: String) {
        #expect(RecordPath(tags: ["resval-record=\(path)"], sources: []) == nil)
        let plain = RecordPath(tags: ["resval-record=/tmp/resval-0/resval-record-0"], sources: [])
        #expect(plain?.path == Array("/tmp/resval-0/resval-record-0".utf8))
    }

    @Test("a record hides itself, and no directory that leads to a SOURCE")
    func hiddenDirectories() throws {
        func hides(_ record: String, _ path: String) -> Bool {
            RecordPath(tags: ["resval-record=\(record)"], sources: ["/"])?
                .hides(Array(path.utf8)) == true
        }
        let record = "/tmp/resval-0/resval-record-0"
        #expect(hides(record, record) && !hides(record, "/tmp") && !hides(record, "/tmp/resval-0"))
        let elsewhere = RecordPath(tags: ["resval-record=\(record)"], sources: ["/home"])
        #expect(elsewhere?.hides(Array("/tmp".utf8)) == true)
        #expect(elsewhere?.hides(Array("/tmp/resval-1".utf8)) == false)
        let state = "/home/ada/.local/state/resval"
        #expect(hides("\(state)/resval-record-0", state))
        #expect(!hides("\(state)/resval-record-0", "/home/ada/.local/state"))
        for directory in ["/home/ada", "/home/resval-data", "/tmp"] {
            let other = "\(directory)/resval-record-0"
            #expect(hides(other, other) && !hides(other, directory))
            #expect(!hides(other, "\(directory)/file"))
        }
    }

    @Test("tags of SOURCEs count only when all are plain")
    func sourceTags() {
        for path in ["/a/../b", "a", "--json", "/a//b", "/a%00b", ""] {
            let tags = SnapshotTags(sources: ["/a", "/b"]).texts + ["resval-source=\(path)"]
            #expect(SnapshotTags(tags).sources == [])
        }
        #expect(SnapshotTags(SnapshotTags(sources: ["/"]).texts).sources == ["/"])
    }

    @Test("a snapshot whose identifiers are anything but a SHA-256 is refused")
    func identifiers() throws {
        let good = String(repeating: "0f", count: 32)
        func read(_ identifier: String, _ tree: String) throws -> Snapshot {
            let json =
                #"{"id":"\#(identifier)","tree":"\#(tree)","time":"2026-01-01T00:00:00Z"}"#
            return try Snapshot(json: Array(json.utf8)[...])
        }
        #expect(try read(good, good).identifier == good)
        let fullWidth = String(repeating: "\u{FF10}", count: 64)
        for bad in ["", "--json", "latest", String(good.dropLast()), good + "0", fullWidth] {
            #expect(throws: JSONError.self) { try read(bad, good) }
            #expect(throws: JSONError.self) { try read(good, bad) }
        }
        #expect(SnapshotChoice("\u{FF10}\u{FF10}\u{FF10}\u{FF10}") == nil)
    }

    @Test("the location goes by the environment, and never among the arguments")
    func location() async throws {
        let location = "rest:https://ada:secret@host/"
        let restic = try Restic(
            searchPath: Array("/usr/local/bin:/usr/bin:/bin".utf8),
            repository: RepositoryLocation(bytes: Array(location.utf8)),
            passwordFile: Array("-file".utf8),
            environment: ["RESTIC_REPOSITORY=x"].map { Array($0.utf8) })
        #expect(try await restic.passwordOption() == [Array("--password-file=-file".utf8)])
        let told = restic.environment.variables.filter { $0.starts(with: "RESTIC_REPOSITORY".utf8) }
        #expect(told == [Array("RESTIC_REPOSITORY=\(location)".utf8)])
        let steps = restic.steps(RepositoryDamage([]), packs: ["0123456789abcdef"])
        #expect(steps.count == 1)
        for word in steps.flatMap(\.command) {
            #expect(!String(decoding: word, as: UTF8.self).contains("secret"))
        }
    }

    @Test("a file name in a line of a check names no pack")
    func hostileNamesInChecks() {
        let id = String(repeating: "0f", count: 32)
        let damage = RepositoryDamage([
            #"  tree 12345678: file "pack 01234567 blob \#(id)" blob \#(id.replacing("0", with: "1")) not found in index"#,
            "pack \(id): does not exist",
            "pack \(id.replacing("0", with: "1")) contains 1 errors: [blob x: hash mismatch]",
        ])
        #expect(damage.packs == [id, id.replacing("0", with: "1")])
        #expect(damage.hasIncompletePack)
    }
}
