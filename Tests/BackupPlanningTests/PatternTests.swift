import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupPlanning

@Suite("Patterns of what a backup leaves out", .cleansUp)
struct PatternTests {
    private static let tree = Tree {
        for name in ["a.iso", "b.iso", "a.iso.txt", "*", "[x]", "\u{E9}", "build", ".hidden"] {
            File("\(name)")
        }
        Directory("docs") {
            File("a.pdf")
            File("build")
            Directory("sub") {
                File("b.pdf"); File("a.iso")
            }
        }
        Directory("src") {
            Directory("build") {
                File("y.o"); Directory("lib") { File("y.o") }
            }
            Directory("lib") {
                Directory("x") {
                    File("y.o"); File("z.o")
                }
            }
        }
    }

    private func patterns(_ texts: [String], home: FilePath? = nil) throws -> [ExclusionPattern] {
        try texts.map { try #require(ExclusionPattern($0, home: home)) }
    }

    @Test(
        "what git ignores is left out, and nothing else",
        arguments: [
            ["*.iso"], ["build"], ["build/"], ["docs/*.pdf"], ["docs/**"], ["**/b.pdf"],
            ["**/sub/*"],
            ["src/**/y.o"], ["src/**"], ["**/lib/**/y.o"], ["*.iso", "!b.iso"],
            ["!a.iso", "*.iso"],
            ["docs/sub/", "!docs/sub/b.pdf"], ["docs/sub/*", "!docs/sub/b.pdf"], ["d?cs"], ["?"],
            ["??"], ["[ab].iso"], ["[!a].iso"], ["[^a-b]*.iso"], ["\\*"], ["\\[x]"], ["[x]"],
            ["*b*d*"],
            ["lib/x"], ["src/lib/x/"], [".*"], ["\\!a", "a.iso"],
        ])
    func git(texts: [String]) throws {
        try require(.tool("git"))
        let base = try temporaryDirectory { Directory("work") }
        let root = base.appending("work")
        try Self.tree.create(in: root)
        let rules = texts.map { $0 + "\n" }.joined()
        try Tree { File("rules", rules) }.create(in: base)
        let script = """
            cd "$1"; git init -q --bare git
            find "$1/work" -type f -print0 |
                git --git-dir=git --work-tree=work -c core.bare=false -c core.excludesFile="$1/rules" \\
                    check-ignore --no-index -z --stdin || [ $? = 1 ]
            """
        let ignored = Set(try shell(script, base).split(separator: "\0").map(String.init))
        let all = Set(
            try shell(#"find "$1/work" -type f -print0"#, base).split(separator: "\0")
                .map(String.init))
        let given = try patterns(texts)
        let plan = try makePlan(root) { $0.patterns = given }
        let left = all.filter { file in
            plan.exclusions.contains { FilePath(file).starts(with: $0.path) }
        }
        #expect(left == ignored, "\(texts)")
        #expect(plan.exclusions.allSatisfy { $0.reason.name == "pattern" })
    }

    @Test(
        "a mark on the item itself counts first, and a pattern from the root or the home fits there only"
    )
    func ranks() throws {
        let root = try temporaryDirectory {
            File("a.iso").excluded(false)
            File("b.iso").excluded()
            Directory("c.iso") { File("d").excluded(false) }
            Directory("deep") { Directory("VMs") { File("disk") } }
            Directory("VMs") { File("disk") }
            File(FileName([0xFF, 0xFE]))
        }
        let given = try patterns(["*.iso", "~/VMs", "/VMs", "?[!a]"], home: root)
        let plan = try makePlan(root) { $0.patterns = given }
        #expect(
            plan.reasons(below: root).dropLast()
                == ["VMs: pattern", "b.iso: marked", "c.iso: pattern"])
        #expect(plan.exclusions.last?.path.bytes.suffix(2) == [0xFF, 0xFE])
        #expect(plan.exclusions.first?.reason.sentence == "it is excluded by the pattern '~/VMs'")
    }

    @Test("names that a pattern nearly fits take no time", .timeLimit(.minutes(1)))
    func nearlyFits() throws {
        let given = try patterns(["**/a/**/a/**/a/**/a/**/b/c"])
        let path = Array(repeating: Array("a".utf8)[...], count: 2000) + [Array("c".utf8)[...]]
        #expect(!given[0].matches(path[...], isDirectory: false))
    }

    @Test("one that fits a SOURCE, what is above it, or everything in it is refused")
    func refused() throws {
        let root = try temporaryDirectory { Directory("a") { File("f") } }
        let a = root.appending("a")
        for text in ["\(root)", "\(a)/", "~/a", "*", "**", "~/a/*", "/**", "!x", "?*"] {
            let given = try patterns([text], home: root)
            if text == "!x" {
                #expect(try makePlan(a) { $0.patterns = given }.exclusions.isEmpty)
                continue
            }
            let error = try #require(throws: SourceError.self, "\(text)") {
                try makePlan(a) { $0.patterns = given }
            }
            #expect(error.description.contains("the pattern '\(text)'"))
        }
        let given = try patterns(["a"])
        let plan = try makePlan(root, a) { $0.patterns = given }
        #expect(plan.notices(below: root) == ["a: refused: pattern"])
        for text in ["", "/", "!", "[[:digit:]]", "~/x"] {
            #expect(ExclusionPattern(text, home: nil) == nil, "\(text)")
        }
    }
}
