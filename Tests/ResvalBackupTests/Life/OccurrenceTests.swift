import SystemPackage
import TestSupport
import Testing

@Suite("Items in old snapshots")
struct OccurrenceTests {
    private static let name = FileName(Array("raw [1]* \\".utf8) + [0xFF, 0x0A])
    private let tree = Tree {
        File("kept", "text")
        Directory(Self.name) {
            File("a", "12345")
            Directory("deep") { File(FileName([0xFE]), "1234567") }
        }
    }

    private func exclude(_ path: FilePath) throws {
        try tool("setfattr", "-n", "user.resval.isExcludedFromBackup", "-v", "true", path)
    }

    private func identifiers(_ backup: BackupFixture) throws -> [String] {
        try backup.runSuccessfully("snapshots").split(separator: "\n").dropFirst()
            .map { String($0.prefix(8)) }
    }

    @Test("explain names the snapshots that hold it, and the command that takes it out of them")
    func rewriting() throws {
        try withBackup(of: tree) { backup in
            let raw = backup.source.appending(Self.name)
            for _ in 0..<2 { try backup.runSuccessfully("create", backup.source) }
            try exclude(raw)
            try #expect(backup.run("create", backup.source).exitCode == 3)
            let all = try identifiers(backup)
            try #require(all.count == 3)
            let result = try backup.run("explain", "--in-snapshots", raw)
            #expect(result.exitCode == 0, "\(result)")
            #expect(result.errorText == "")
            let lines = result.text.split(separator: "\n").map(String.init)
            #expect(lines[0].hasSuffix(": in 2 snapshots of this machine"), "\(result)")
            for (line, identifier) in zip(lines[1...2], all) {
                #expect(line.hasPrefix("  \(identifier)  "), "\(result)")
                #expect(line.hasSuffix("  2 items, 12 B"), "\(result)")
            }
            let command = lines[3]
            #expect(command.hasPrefix("restic --repo \(backup.repository) --password-file "))
            #expect(command.hasSuffix(" \(all[0]) \(all[1])"), "\(command)")
            #expect(Array(lines[4...]) == ["resval-backup prune"])
            try Command("/bin/bash", "-c", command).runSuccessfully()
            let after = try backup.run("explain", "--in-snapshots", raw)
            #expect(after.text.hasSuffix(": in no snapshot of this machine\n"), "\(after)")
        }
    }

    @Test("an item that is gone, or that no snapshot holds, and one in a snapshot of evicted files")
    func others() throws {
        let content = String(repeating: "0123456789abcdef", count: 20_000)
        let tree = Tree {
            File("file", content)
            File("gone", "text")
        }
        try withBackup(of: tree) { backup in
            let file = backup.source.appending("file")
            let gone = backup.source.appending("gone")
            try backup.runSuccessfully("create", backup.source)
            try backup.runSuccessfully("evict", file)
            try tool("rm", gone)
            let result = try backup.run(
                "explain", "--in-snapshots", gone, file, backup.source.appending("none"))
            #expect(result.exitCode == 0, "\(result)")
            let all = try identifiers(backup)
            #expect(result.text.contains("\(gone): in 1 snapshot of this machine\n"), "\(result)")
            #expect(
                result.text.contains("/source/none: in no snapshot of this machine\n"), "\(result)")
            #expect(result.text.contains("\(file): in 2 snapshots of this machine\n"), "\(result)")
            let kept = try #require(all.last)
            #expect(
                result.text.split(separator: "\n").contains {
                    $0.hasPrefix("  \(kept)  ") && $0.hasSuffix(", keeps evicted files")
                }, "\(result)")
            // It has the only copy.
            let commands = result.text.split(separator: "\n").filter { $0.contains(" rewrite ") }
            #expect(commands.count == 2)
            #expect(!commands.contains { $0.contains(kept) }, "\(result)")
            let json = try backup.runSuccessfully("explain", "--in-snapshots", "--json", gone)
            #expect(json.hasPrefix(#"{"version":1,"path":"\#(gone)","snapshots":[{"snapshot":""#))
            #expect(json.contains(#","items":1,"bytes":4,"isPinned":false}],"command":"restic "#))
        }
    }

    @Test("archives are looked through, too, and cannot be rewritten")
    func archives() throws {
        try withArchives(of: tree) { archives in
            let raw = archives.source.appending(Self.name)
            try archives.runSuccessfully("create", archives.source)
            let result = try archives.run("explain", "--in-snapshots", raw)
            #expect(result.exitCode == 0, "\(result)")
            #expect(result.text.contains(": in 1 snapshot of this machine\n"), "\(result)")
            #expect(
                result.text.hasSuffix(
                    "  2 items, 12 B\n"
                        + "# archives cannot be rewritten; forget removes whole snapshots\n"))
        }
    }

    @Test("a snapshot that cannot be read is named, with exit code 3")
    func damaged() throws {
        try withArchives(of: tree) { archives in
            for _ in 0..<2 { try archives.runSuccessfully("create", archives.source) }
            let manifest = try #require(
                try archives.files().first { !$0.hasSuffix(".tar.zst") && $0.contains(".manifest") }
            )
            try tool("truncate", "--size", "60", archives.repository.appending(manifest))
            let result = try archives.run(
                "explain", "--in-snapshots", archives.source.appending("kept"))
            #expect(result.exitCode == 3, "\(result)")
            #expect(result.text.contains(": in 1 snapshot of this machine\n"), "\(result)")
            #expect(result.errorText.contains("kept: may be in snapshot "), "\(result)")
        }
    }
}
