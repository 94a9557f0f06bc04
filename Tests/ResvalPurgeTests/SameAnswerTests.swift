import PurgePlanning
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("resval and resval-purge agree on marked items", .cleansUp)
struct SameAnswerTests {
    private let tree = Tree {
        Directory("Documents") { File("novel", block).purgeable() }
        Directory(".ssh") { File("key", block).purgeable() }
        Directory("docker") { File("layer", block).purgeable() }
        Directory("project") {
            Directory("build") { File("object", block) }.purgeable()
            File("log", block).purgeable()
            File("shared", block).purgeable().permissions(0o666)
            File("pinned", block).purgeable(false)
            Directory("shared directory") { File("a", block).purgeable() }
                .purgeable().permissions(0o777)
        }
        File("plain", block)
    }

    private static let deleted = ["project/build", "project/log"]
    private static let kept = [
        "Documents/novel": "protected-directory", ".ssh/key": "protected-directory",
        "docker/layer": "untrusted-mark", "project/shared": "untrusted-mark",
        "project/shared directory": "untrusted-mark", "project/shared directory/a": "inherited",
        "project/pinned": "marked-false", "plain": "unmarked",
    ]

    private func resval(_ home: PurgeHome, _ arguments: any CommandArgument...) throws -> String {
        let result = try home.run(.built("resval"), arguments: arguments)
        #expect(result.errorText == "")
        #expect(result.exitCode == 0, "\(result)")
        return result.text
    }

    private func planned(_ home: PurgeHome) throws -> Set<String> {
        _ = try home.run("plan", ".", "--free", "1G", "--min-age", "0", "--output", "plan.json")
        let plan = try PurgePlan(json: contentsOfFile(home("plan.json")))
        return Set(
            plan.units.map {
                String(decoding: $0.path, as: UTF8.self).replacing(home.home.string + "/", with: "")
            })
    }

    @Test("explain, get, find and usage say purgeable of what a purge deletes, and why of the rest")
    func sameAnswer() throws {
        let home = try purgeHome { tree }
        try #expect(planned(home) == Set(Self.deleted))
        for path in Self.deleted + Self.kept.keys.sorted() {
            let isDeleted = Self.deleted.contains(path)
            try #expect(
                resval(home, "get", "--effective", "purgeable", path) == "\(isDeleted)\n",
                "\(path)")
            let explained = try resval(home, "explain", "--json", path)
            let reason = isDeleted ? "marked" : Self.kept[path] ?? ""
            #expect(
                explained.contains(
                    #""purgeability":{"value":\#(isDeleted),"reason":"\#(reason)""#),
                "\(explained)")
        }
        for start in [".", home.home.string] {
            let found = try resval(home, "find", "--effective", "--purgeable", start)
            #expect(
                Set(found.split(separator: "\n").map { $0.dropFirst(start.count + 1) })
                    == ["project/build", "project/build/object", "project/log"])
        }
        let amounts = try resval(home, "usage", "--json", ".").split(separator: "\n")
            .filter { $0.contains(#""purging":"marked""#) }
        #expect(amounts.count == 1)
        #expect(amounts.first?.contains(#""apparentBytes":10000"#) == true, "\(amounts)")
    }

    @Test("a mark on a home is not for what is in it, which may have its own")
    func markedHome() throws {
        let home = try purgeHome { tree }
        try home.home.setValue(true, for: .isPurgeable)
        try #expect(planned(home) == Set(Self.deleted))
        for (path, isDeleted) in [(".", false), ("plain", false), ("project/log", true)] {
            try #expect(resval(home, "get", "--effective", "purgeable", path) == "\(isDeleted)\n")
        }
        let explained = try resval(home, "explain", "--json", ".")
        #expect(explained.contains(#""reason":"holds-protected""#), "\(explained)")
    }

    @Test("a mark does not count while settings that protect something cannot be read, and why")
    func unreadableSettings() throws {
        let home = try purgeHome {
            File(".config/resval/backup.toml", String(repeating: "#", count: 2 << 20))
            File("log", block).purgeable()
        }
        let explained = try resval(home, "explain", "log")
        #expect(
            explained.contains("does not count: settings that say what is never purged cannot be"),
            "\(explained)")
        let status = try home.run("status", ".")
        #expect(status.exitCode == 2)
        #expect(status.errorText.contains("/.config/resval/backup.toml: "), "\(status)")
    }

    @Test("settings of the system that root alone can read keep no ordinary user from purging")
    func settingsOfSystem() throws {
        try require(.root, .tool("unshare"), .tool("setpriv"))
        let home = try purgeHome { Directory(".cache/app/unit") { File("file", block) } }
        try tool("chmod", "755", home.home)
        try tool("chown", "-R", "1234", home.home)
        let script = """
            mkdir -p upper/resval work; echo 'repository = "/srv"' > upper/resval/backup.toml
            chmod 0 upper/resval/backup.toml; chmod "$1" upper/resval
            mount -t tmpfs none work; mkdir work/upper work/work; cp -a upper/resval work/upper
            mount -t overlay none -o lowerdir=/etc,upperdir=work/upper,workdir=work/work /etc
            exec setpriv --reuid 1234 --regid 1234 --clear-groups \
                "$0" plan --free 1K --min-age 0 --smallest 0
            """
        for mode in ["700", "755"] {
            let result = try home.run(
                "/usr/bin/unshare",
                arguments: ["--mount", "sh", "-ec", script, FilePath.built("resval-purge"), mode])
            #expect(result.exitCode == 0, "\(result)")
            #expect(result.text.contains(".cache/app/unit/\n"), "\(result)")
        }
    }

    @Test("what is never purged is read only when a mark says purgeable")
    func readsNothingElse() throws {
        try require(.tool("strace"))
        let home = try purgeHome { tree }
        func readsSettings(_ path: String) throws -> Bool {
            let trace = try home.command(
                try #require(FilePath.tool("strace")),
                arguments: [
                    "-f", "-e", "trace=openat", "-o", "trace", FilePath.built("resval"),
                    "explain", path,
                ]
            ).underTracer().run()
            #expect(trace.exitCode == 0)
            return String(decoding: try contentsOfFile(home("trace")), as: UTF8.self)
                .contains(".config/resval")
        }
        try #expect(!readsSettings("plain"))
        try #expect(readsSettings("project/log"))
    }
}
