import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import EffectiveValues

@Suite("Rules for what tools re-create", .cleansUp)
struct RuleTests {
    private func rules(_ list: String) throws -> RecreationRules {
        try RecreationRules(own: (Array(list.utf8), "/rules.tsv"), homes: ["/home/u"])
    }

    @Test("every rule that is shipped is valid, and is for a name or a path in a home")
    func shipped() throws {
        let lines = try RuleLine.lines(of: PackageResources.rules_tsv, at: nil)
        #expect(lines.count > 80)
        #expect(Set(lines).count == lines.count)
        let rules = try RecreationRules(homes: [])
        for name in ["node_modules", "target", ".build", "venv", "__pycache__", "mod"] {
            #expect(rules.mayFit(Array(name.utf8)), "\(name)")
        }
    }

    @Test(
        "a line that is not valid is an error with its number",
        arguments: [
            ("out\tbeside:Makefile\tmake", "has not four fields"),
            ("out\tbeside:Makefile\tmake\t", "has not four fields"),
            ("out\tbeside:Makefile\tmake\tit is made\tmore", "has not four fields"),
            ("out\tnear:Makefile\tmake\tit is made", "'near:Makefile' is not a proof"),
            ("out\tbeside\tmake\tit is made", "'beside' is not a proof"),
            ("out\ttagged:x\tmake\tit is made", "'tagged:x' is not a proof"),
            ("out\tbeside:a,\tmake\tit is made", "'' is not a path that leads down"),
            ("out\tin:../a\tmake\tit is made", "'../a' is not a path that leads down"),
            ("out\tbeside:a/b\tmake\tit is made", "'a/b' is not a name"),
            ("out\tin:a/\u{301}*\tmake\tit is made", "'a/\u{301}*' is not a name"),
            ("out\t!in:a\tmake\tit is made", "the proof shows nothing about the directory"),
            ("~/o*\tin:a\tmake\tit is made", "a path has a wildcard"),
            ("a/b\tin:a\tmake\tit is made", "the directory is neither a name nor a path"),
            ("/a\tin:a\tmake\tit is made", "'/a' is not a path that leads down"),
            ("~/../a\tin:a\tmake\tit is made", "'../a' is not a path that leads down"),
            ("out\tin:a\tmake\tit is \u{1B}[2Jmade", "is not text"),
            ("out\tin:a clones:x/y\tmake\tit is made", "'x/y' is not a name"),
            ("out\twhole\tmake\tit is made", "the proof shows nothing about the directory"),
            ("a/b\tprecious\t-\ta table", "the file is not a name"),
            ("out,\tin:a\tmake\tit is made", "has not four fields"),
        ])
    func broken(line: String, complaint: String) throws {
        let error = #expect(throws: FileError.self) {
            try rules("# mine\n\nfine\tin:a\tmake\tit is made\n\(line)\n")
        }
        #expect(error?.message.hasPrefix("line 4: ") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains(complaint) == true, "\(error?.message ?? "")")
        #expect(error?.path == "/rules.tsv")
    }

    private static let proofs = Tree {
        File("p/Makefile")
        File("p/x.proj")
        SymbolicLink("p/link", to: "Makefile")
        File("p/out/a.o")
        File("p/out/deep/mark")
        Directory("empty") { Directory("out") }
    }

    @Test(
        "all of a proof must be true, and a link proves nothing",
        arguments: [
            ("beside:Makefile", "out beside Makefile"),
            ("beside:GNUmakefile,Makefile", "out beside Makefile"),
            ("beside:*.proj", "out beside *.proj"),
            ("in:deep/mark", "out with deep/mark in it"),
            ("beside:Makefile in:*.o", "out beside Makefile and with *.o in it"),
            ("only:*.o,deep", "out with nothing but *.o, deep in it"),
            ("beside:Makefile !in:secret", "out beside Makefile"),
            ("beside:GNUmakefile", nil), ("beside:link", nil), ("in:Makefile", nil),
            ("beside:Makefile in:b.o", nil), ("only:*.o", nil), ("tagged", nil),
            ("beside:Makefile !in:a.o", nil), ("in:deep/other", nil), ("in:a.o/mark", nil),
        ] as [(String, String?)])
    func proof(_ proof: String, _ expected: String?) throws {
        let root = try temporaryDirectory(containing: Self.proofs)
        let rules = try rules("out\t\(proof)\tmake\tit is made")
        func find(_ path: FilePath) throws -> Recreation? {
            try rules.recreation(
                of: path.names.map { Array($0) }, OpenDirectory(at: path))?.recreation
        }
        let found = try find(root.appending("p/out"))
        #expect(found?.proof == expected)
        if expected != nil { #expect(found?.tool == "make") }
        try #expect(find(root.appending("empty/out")) == nil)
    }

    @Test("a path in a home is a place, and homes and what is installed fit no rule for a name")
    func places() throws {
        let root = try temporaryDirectory {
            File("home/.tool/store/a")
            File("home/work/store/a")
            File("home/work/out-1/a")
            File("home/work/vendored/x/out/a")
            File("home/.hidden/out/a")
            Directory("out") { File("a") }
        }
        let list = """
            ~/.tool/store\tin:a\ttool\tit is loaded
            ?ut*\tin:a\tmake\tit is made
            vendored\tnever\t-\tit is ours
            """
        let rules = try RecreationRules(
            own: (Array(list.utf8), "/rules.tsv"),
            homes: [root.appending("home"), root.appending("out")])
        func finds(_ path: String) throws -> Bool {
            let path = root.appending(path)
            return try rules.recreation(
                of: path.names.map { Array($0) }, OpenDirectory(at: path)) != nil
        }
        try #expect(finds("home/.tool/store"))
        try #expect(!finds("home/work/store"))
        try #expect(finds("home/work/out-1"))
        try #expect(!finds("home/work/vendored/x/out"))
        try #expect(!finds("home/.hidden/out"))
        try #expect(!finds("out"))
    }
}
