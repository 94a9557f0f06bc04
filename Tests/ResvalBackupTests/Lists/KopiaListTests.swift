import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("A list for kopia")
struct KopiaListTests {
    private func rules(_ tree: Tree, _ options: String...) throws -> [[UInt8]] {
        try withTemporaryDirectory(containing: Tree { Directory("source") }) { base in
            let source = base.appending("source")
            try tree.create(in: source)
            let list = base.appending("list")
            let words: [any CommandArgument] =
                ["plan", "--format", "kopia", "--output", list, "--no-locations"] + options
                + [source]
            let result = try Command(.built("resval-backup"), arguments: words).run()
            #expect(result.exitCode == 0, "\(result)")
            let rules = try contentsOfFile(list)
            return rules.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                .dropLast().map(Array.init)
        }
    }

    @Test("anchors its rules at the SOURCE, and keeps the entries of directories")
    func anchored() throws {
        let tree = Tree {
            File("file").excluded()
            Directory("directory") { File("inside") }.excluded()
            Directory("deep") { File("file").excluded() }
        }
        #expect(
            try rules(tree).map { String(decoding: $0, as: UTF8.self) } == [
                "/deep/file", "/directory/*", "/file",
            ])
    }

    @Test("escapes what a rule would take for something else")
    func escaped() throws {
        let expected: [FileName: String] = [
            HostileNames.newline: "/new[!\u{1}-\t\u{B}-\u{10FFFF}]line",
            HostileNames.trailingNewline: "/trailing newline[!\u{1}-\t\u{B}-\u{10FFFF}]",
            HostileNames.trailingCarriageReturn: "/trailing carriage return[\r]",
            HostileNames.trailingSpace: "/trailing space[ ]",
            HostileNames.leadingSpace: "/ leading space",
            HostileNames.onlySpace: "/[ ]",
            HostileNames.hash: "/# comment",
            HostileNames.globs: #"/\*\?\[a-z]{b,c}\\"#,
            HostileNames.backslash: #"/back\\slash\\n\\x41\\101"#,
            HostileNames.dollar: "/$HOME ${HOME} $$ `id` $(id)",
            "wide\u{3000}": "/wide[\u{3000}]",
        ]
        for (name, rule) in expected {
            #expect(try rules(Tree { File(name).excluded() }) == [Array(rule.utf8)])
        }
        let bytes = HostileNames.notUTF8
        #expect(
            try rules(Tree { File(bytes).excluded() }) == [Array("/".utf8) + bytes.bytes])
    }

    @Test("leaves out every name of a cache directory but that of the tag")
    func cacheDirectory() throws {
        let tree = Tree {
            Directory("c") {
                File("CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55")
            }
        }
        let rules = try rules(tree, "--markers", "cachedir")
            .map { String(decoding: $0.dropFirst("/c/".count), as: UTF8.self) }
        // A shell's patterns mean the same here.
        let script = #"name=$1; shift; for rule; do [[ $name == $rule ]] && exit 0; done; exit 1"#
        func isLeftOut(_ name: String) throws -> Bool {
            let words: [any CommandArgument] =
                ["-c", script, "bash", name] + rules.map { $0 as any CommandArgument }
            return try Command("/bin/bash", arguments: words).run().exitCode == 0
        }
        #expect(try !isLeftOut("CACHEDIR.TAG"))
        for name in ["C", "CACHEDIR.TA", "CACHEDIR.TAGS", "x", "cachedir.tag", "CACHEDIR.TAX", "D"]
        {
            #expect(try isLeftOut(name), "\(name)")
        }
    }
}
