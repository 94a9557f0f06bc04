import SystemPackage
import TestSupport
import Testing

@Suite("What a backup would store")
struct PreviewTests {
    private let tree = Tree {
        File("small", "12345")
        File("middle", String(repeating: "x", count: 2000))
        File("large", String(repeating: "x", count: 3000))
        File("excluded", String(repeating: "x", count: 4096)).excluded()
        Directory("build") {
            File("object", String(repeating: "x", count: 1024))
            Directory("deeper") { File("object", String(repeating: "x", count: 5120)) }
        }.excluded()
        Directory("empty") {}.excluded()
    }

    private let totals =
        "total: 6 items stored (3 files with 4.9 KiB, 3 directories, 0 others), 3 excluded\n"

    @Test("create --dry-run prints what plan prints, and stores nothing")
    func dryRun() throws {
        try withBackup(of: tree) { backup in
            let before = try backup.restic("snapshots", "--json")
            for options in [[], ["--json"], ["--excluded-only"]] {
                func lines(_ command: [any CommandArgument]) throws -> [String] {
                    let words: [any CommandArgument] = command + options + [backup.source]
                    let result = try backup.command(words).run()
                    #expect(result.exitCode == 0, "\(result)")
                    #expect(result.errorText == "")
                    return result.text.split(separator: "\n").map(String.init).sorted()
                }
                let plan = try lines(["plan"])
                #expect(!plan.isEmpty)
                try #expect(lines(["create", "--dry-run"]) == plan, "\(options)")
                try #expect(lines(["create", "-n"]) == plan, "\(options)")
            }
            #expect(try backup.restic("snapshots", "--json") == before)
        }
    }

    @Test("a plan shows an evicted file as what it is, and so do the plans of its directory")
    func evicted() throws {
        let content = String(repeating: "0123456789abcdef", count: 20_000)
        try withBackup(of: Tree { File("file", content) }) { backup in
            let file = backup.source.appending("file")
            try backup.runSuccessfully("evict", file)
            let plan = try backup.run("plan", backup.source)
            #expect(
                plan.text.contains(
                    "exclude   \(file): it is evicted: its content is in snapshot "), "\(plan)")
        }
    }
}
