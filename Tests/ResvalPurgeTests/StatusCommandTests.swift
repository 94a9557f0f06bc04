import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("resval-purge status", .cleansUp)
struct StatusCommandTests {
    @Test(
        "tells for each volume how short space is, and how much may go", arguments: [false, true])
    func volumes(_ isFull: Bool) throws {
        let home = try measuredHome { File(".cache/app/unit/file", block) }
        if isFull {
            let capacity = try #require(try home.home.volumeCapacity())
            let fill = capacity.available - capacity.total / 100
            try tool("fallocate", "-l", "\(fill)", home("fill"))
        }
        let unit = home(".cache/app/unit")
        let bytes =
            try unit.status().allocatedSize + unit.appending("file").status().allocatedSize
        let result = try home.run("status", ".", "--min-age", "0")
        #expect(result.exitCode == 0)
        let lines = result.text.split(separator: "\n").map(String.init)
        try #require(lines.count == 4)
        let level = isFull ? "critical" : "normal"
        #expect(lines[0].hasPrefix("\(home.home) (ext4): \(level), "))
        #expect(
            lines.dropFirst() == [
                "  temporary: 0 paths, 0 B", "  caches: 1 path, \(bytes / 1024).0 KiB",
                "  marked: 0 paths, 0 B",
            ])
        let json = try home.run("status", ".", "--min-age", "0", "--json")
        #expect(json.text.contains("\"filesystem\":\"ext4\",\"pressure\":\"\(level)\""))
        #expect(json.text.contains("\"purgeableBytes\":\(bytes)"))
    }

    @Test("tells what is too young, and how marked items elsewhere are reached")
    func unreached() throws {
        try require(.tool("script"))
        let home = try measuredHome {
            File(".cache/app/unit/file", block)
            Directory("build") { File("file", block) }.purgeable()
        }
        let result = try home.run("status")
        result.expect(
            exits: 0,
            prints:
                "  too young: 1 path, used or changed less than 24h ago (--min-age 0 counts them)\n"
        )
        #expect(
            result.text.hasSuffix(
                "marked items elsewhere are not counted: name their directory, as in "
                    + "'resval-purge status .', or list it in mark-roots for watch\n"))
        let shown = try home.command(arguments: ["status"]).onTerminal("dumb").run().text
        for line in TerminalOutput(shown).lines { #expect(line.count <= 80) }
        let named = try home.run("status", ".", "--min-age", "0")
        #expect(named.text.contains("  marked: 1 path, "))
        #expect(!named.text.contains("elsewhere"))
        #expect(try home.run("status", ".", "--json").text.contains("\"tooYoungUnits\":2"))
    }

    @Test("says why nothing is ever deleted on a volume")
    func unavailable() throws {
        let home = PurgeHome(home: try filesystem(.tmpfs).root)
        try home.run("status", ".", "--min-age", "0").expect(
            exits: 0, prints: "  nothing is deleted here: it is in memory (tmpfs)")
    }

    @Test("goes on after a place that is not there, and exits with 2")
    func missing() throws {
        let home = try purgeHome { Directory("here") }
        let result = try home.run("status", "gone", "here")
        #expect(result.exitCode == 2)
        #expect(result.errorText == "resval-purge: gone: no such file or directory\n")
        #expect(result.text.hasPrefix("\(home.home)/here ("))
    }

    @Test("a FUSE mount that does not answer stops neither status nor plan")
    func silentMount() throws {
        let home = try measuredHome {
            Directory("source") { Directory("inner") { Directory("repository") } }
            File(".cache/app/file", "text")
            File(".cache/other/file", "text")
        }
        let points = ["Documents", ".cache/app/mount", ".local/share"].map { home($0) }
        try makeSilentMounts(at: points, showing: home("source"))
        for command: [FilePath] in [["status"], ["plan", "--free", "1K"]] {
            try home.run(
                FilePath("/usr/bin/timeout"),
                arguments: [
                    "-s", "KILL", "30", FilePath.built("resval-purge"),
                ] + command + ["--min-age", "0", "--smallest", "0"],
                environment: ["RESTIC_REPOSITORY": home("Documents/inner/repository").string]
            ).expect(exits: 0)
        }
    }
}
