import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("resval-purge where inodes are short", .cleansUp)
struct InodeTests {
    /// Makes a home that has a hundred empty files in its caches, on a filesystem with few inodes.
    private func homeWithFewInodes() throws -> PurgeHome {
        let root = try filesystem(.ext4, features: ["-N", "512"]) {
            Directory("home/.cache/app") { for index in 0..<100 { File("file\(index)") } }
            Directory("home/Documents") { File("letter") }
            Directory("home/data")
        }.root
        return PurgeHome(home: root.appending("home"))
    }

    /// The number of all inodes and of those that are available.
    private func inodes(_ home: PurgeHome) throws -> (total: Int, available: Int) {
        let numbers = try tool("stat", "-f", "-c", "%c %d", home.home).split(separator: " ")
            .map { Int($0.filter(\.isNumber)) ?? 0 }
        return (numbers[0], numbers[1])
    }

    /// Makes files until twenty inodes are left.
    private func useInodes(_ home: PurgeHome) throws {
        try tool(
            "sh", "-ec", "cd $0; seq -f 'data/%g' $(($1 - 20)) | xargs touch", home.home,
            "\(try inodes(home).available)")
    }

    @Test("status names them, empty files may go, and a percentage is meant of them, too")
    func short() throws {
        let home = try homeWithFewInodes()
        try tool("ln", home("Documents/letter"), home(".cache/app/linked"))
        let enough = try home.run("plan", ".", "--free", "1M", "--min-age", "0", "--kept")
        #expect(enough.text.contains("/file0: deleting it would free nothing\n"), "\(enough)")
        try useInodes(home)
        let status = try home.run("status", ".", "--min-age", "0")
        let (total, available) = try inodes(home)
        #expect(
            status.text.contains(
                ": critical, ") && status.text.contains(" and \(available) of \(total) inodes"),
            "\(status)")
        #expect(status.text.contains("  caches: 100 paths, 0 B\n"), "\(status)")
        let wanted = total * 15 / 100 - available
        let target: [any CommandArgument] = [".", "--until-available", "15%", "--min-age", "0"]
        let plan = try home.run(arguments: ["plan"] + target)
        #expect(
            plan.text.contains(
                "total: \(wanted) inodes in \(wanted) paths; wanted \(wanted) inodes\n"),
            "\(plan)")
        #expect(plan.exitCode == 0)
        let run = try home.run(arguments: ["run"] + target + ["--json"])
        #expect(run.exitCode == 0 && run.text.contains("\"isReached\":true"), "\(run)")
        let left = try tool("ls", home(".cache/app")).split(separator: "\n").count
        #expect(left <= 101 - wanted && left > 101 - wanted - 10, "\(run)")
        #expect(try inodes(home).available >= total * 15 / 100 - 10, "\(run)")
        #expect(home(".cache/app/linked").exists)
        #expect(home("data/1").exists)
    }

    @Test("a target that is out of reach is told in inodes, and nothing is deleted")
    func outOfReach() throws {
        let home = try homeWithFewInodes()
        try useInodes(home)
        let run = try home.run("run", ".", "--until-available", "60%", "--min-age", "0")
        #expect(run.exitCode == 1)
        #expect(run.errorText.contains("only 100 inodes of "), "\(run)")
        #expect(run.errorText.contains(" inodes short"), "\(run)")
        #expect(home(".cache/app/file0").exists)
    }
}
