import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Marks and exclusions that resval audit finds", .cleansUp)
struct AuditMarkTests {
    @Test("large files and what tools re-create are found, unless a mark says what to do with them")
    func large() throws {
        let home = try auditedHome {
            File("core", content(3000))
            HardLink("a twin", to: "core")
            File("a disk", content(100_000))
            File("known", content(100_000)).excluded(false)
            File("left out", content(100_000)).excluded()
            Directory("photos") { File("one", content(100_000)) }.excluded(false)
            File("twins/b", content(100_000))
            HardLink("twins/a", to: "twins/b")
            Directory("build") { File("object", content(100_000)) }.excluded()
            File("app/package.json", "{}")
            File("app/node_modules/a", content(40_000))
            File("app/node_modules/b", content(40_000))
            File("app/node_modules/c", content(100_000))
            File("small/package.json", "{}")
            File("small/node_modules/a", content(100))
            Directory(".cache") { File("image", content(100_000)) }
        }
        expect(
            try audit("--larger-than", "60K", home, in: home), in: home,
            finds: [
                "HOME/app/node_modules: large: backups include it, and it is re-creatable: "
                    + "node_modules beside package.json (npm install)",
                "            resval exclude HOME/app/node_modules",
                "HOME/a disk: large: backups include it, and nothing says that they should",
                "            resval exclude 'HOME/a disk'",
                "HOME/twins/a: large: backups include it; it has 2 hard links, so that only a "
                    + "mark on its directory excludes it",
            ])
        expect(try audit(home, in: home), in: home, finds: [])
        expect(try audit(in: home), in: home, finds: [])
        // A ROOT inside another is not looked at twice.
        let twins = home.appending("twins")
        let nested = try audit("--larger-than", "60K", twins, home, twins, in: home)
        #expect(auditText(nested, home).hasSuffix("\ntotal: 3 findings\n"), "\(nested)")
    }

    @Test("malformed, contradicting and useless marks are found, and no others")
    func marks() throws {
        let xdg: ExtendedAttributeName = "user.xdg.robots.backup"
        let apple: ExtendedAttributeName = "user.com.apple.metadata:com_apple_backup_excludeItem"
        let tree = Tree {
            File("broken").attribute(StoredKey.isPurgeable.attribute, "perhaps")
            File("disputed").attribute(xdg, "true").attribute(apple, "x")
            File("settled").attribute(xdg, "false").excluded(false)
            File("plain false").excluded(false)
            File("twin").excluded()
            HardLink("other twin", to: "twin")
            Directory("out") {
                File("again").excluded()
                File("in vain").excluded(false)
                File("class").protection(.none)
            }.excluded()
            Directory("foreign") { File("own").excluded() }.attribute(apple, "x")
            Directory(".cache") { File("own").excluded() }
            Directory("goes") { File("goes anyway").purgeable() }.purgeable()
            Directory("pinned") { File("hopes").purgeable() }.purgeable(false)
        }
        let home = try filesystem(.ext4) { Directory("home") }.root.appending("home")
        // Hard links are declared by paths from the home.
        try tree.create(in: home)
        let result = try audit(home, in: home)
        #expect(
            auditText(result, home) == """
                HOME/broken: malformed: isPurgeable acts as false: user.resval.isPurgeable has the \
                value "perhaps", which is not one of: true, false
                            resval set isPurgeable=false HOME/broken
                HOME/disputed: conflict: marks disagree: apple excludes it, xdg includes it
                            resval set isExcludedFromBackup=false HOME/disputed
                HOME/goes/goes anyway: useless: purgeable, as is already a directory above it, \
                which goes whole (HOME/goes)
                            resval unset isPurgeable 'HOME/goes/goes anyway'
                HOME/other twin: useless: its mark does not count, because the file has 2 hard \
                links; only a mark on its directory excludes it
                            resval unset isExcludedFromBackup 'HOME/other twin'
                HOME/out/again: useless: excluded, as is already a directory above it (HOME/out)
                            resval unset isExcludedFromBackup HOME/out/again
                HOME/out/in vain: useless: its mark includes it, and does not count below an excluded \
                directory (HOME/out)
                            resval include HOME/out
                HOME/twin: useless: its mark does not count, because the file has 2 hard links; only a \
                mark on its directory excludes it
                            resval unset isExcludedFromBackup HOME/twin
                HOME/pinned/hopes: unreachable: purgeable, but a directory above it is pinned \
                (HOME/pinned)
                            resval unset isPurgeable HOME/pinned/hopes
                total: 8 findings

                """, "\(result)")
        #expect(result.errorText == "")
        #expect(result.exitCode == 1)
    }

    @Test("marks that a file lost when it was saved, and marks that mean nothing, are found")
    func lostAndMeaningless() throws {
        let xdg: ExtendedAttributeName = "user.xdg.robots.backup"
        let home = try auditedHome {
            File("pinned~").purgeable(false); File("pinned")
            File("#secret#").protection(.complete); File("secret")
            File("both.bak").excluded(); File("both").excluded()
            File("alone.orig").excluded()
            File("no").attribute(xdg, "no")
            File("yes").attribute(xdg, "true")
            Directory("cache") { File("CACHEDIR.TAG", "Signature: mine") }
        }
        try tool("chown", "-h", "12345", home.appending("alone.orig"))
        let leftBehind = [
            "HOME/#secret#: left-behind: its marks did not stay with secret, which was saved "
                + "anew",
            "            resval copy 'HOME/#secret#' HOME/secret",
            "HOME/pinned~: left-behind: its marks did not stay with pinned, which was saved "
                + "anew",
            "            resval copy 'HOME/pinned~' HOME/pinned",
        ]
        let meaningless =
            "HOME/no: meaningless: the attribute user.xdg.robots.backup does not count: its "
            + "value 'no' is neither true nor false"
        let result = try audit(home, in: home)
        let text = auditText(result, home)
        #expect(result.errorText == "")
        for line in leftBehind + [meaningless] {
            #expect(text.contains(line + "\n"), "\(text)")
        }
        #expect(text.split(separator: ": left-behind: ").count == 3, "\(text)")
        #expect(text.split(separator: ": meaningless: ").count == 2, "\(text)")
        let tagged = try audit("--markers", "native,cachedir", home, in: home)
        #expect(
            auditText(tagged, home).contains(
                "HOME/cache: meaningless: a CACHEDIR.TAG in it does not count: it does not "
                    + "begin with the signature\n"))
        let explained = try resval(
            "explain", "--markers", "native,xdg,cachedir", "cache", "no", in: home)
        #expect(explained.exitCode == 0)
        #expect(
            explained.text.split(separator: "\n").count { $0.hasPrefix("  note: ") } == 2,
            "\(explained)")
    }

    @Test("exclusions of documents are found, but not of caches and what tools re-create there")
    func documents() throws {
        let home = try auditedHome {
            Directory("Pictures") { Directory("2019") }.excluded()
            Directory("Documents/thesis") { File("text", content(20_000)) }.excluded()
            File("Documents/app/package.json", "{}")
            Directory("Documents/app/node_modules") { File("a") }.excluded()
            File("Documents/cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55")
            File("Documents/draft").excluded()
            Directory("build") { File("object") }.excluded()
        }
        let markers = ["--markers", "native,cachedir"]
        expect(
            try audit(markers[0], markers[1], home, in: home), in: home,
            finds: [
                "HOME/Documents/thesis: excluded-documents: its mark excludes it, and it is in a "
                    + "directory for documents (HOME/Documents)",
                "            resval include HOME/Documents/thesis",
                "HOME/Pictures: excluded-documents: its mark excludes it, and with it documents "
                    + "(HOME/Pictures)",
                "            resval include HOME/Pictures",
            ])
        // What a directory above the ROOT excludes is included there.
        expect(
            try audit(home.appending("Pictures/2019"), in: home), in: home,
            finds: [
                "HOME/Pictures/2019: excluded-documents: a directory above it is excluded: its "
                    + "mark excludes it, and it is in a directory for documents (HOME/Pictures)",
                "            resval include HOME/Pictures",
            ])
    }

    @Test("a mark that came with the copy of a directory is found once there is new work in it")
    func copied() throws {
        let tree = Tree {
            Directory("template") {
                File("main.tex"); Directory("figures")
            }.excluded()
            Directory("project/out") { File("object") }.excluded()
            Directory("unpacked") { File("main.tex") }.excluded()
        }
        let home = try auditedHome { tree }
        for path in ["template/main.tex", "template/figures", "project/out/object"] {
            try tool("touch", "-d", "2020-02-02 02:02:02.123456789", home.appending(path))
        }
        for path in ["unpacked/main.tex", "unpacked"] {
            try tool("touch", "-d", "2020-02-02 02:02:02", home.appending(path))
        }
        for (source, copy) in [
            ("template", "thesis"), ("template", "idle"), ("project", "project 2"),
            ("unpacked", "unpacked 2"),
        ] {
            try tool("cp", "-a", home.appending(source), home.appending(copy))
        }
        expect(try audit(home, in: home), in: home, finds: [])
        // Later than the second in which the copies were made.
        try tool("sleep", "1.1")
        for path in [
            "thesis/figures/one", "template/new", "project 2/out/new", "unpacked 2/new",
        ] {
            try tool("touch", home.appending(path))
        }
        expect(
            try audit(home, in: home), in: home,
            finds: [
                "HOME/thesis: copied-mark: its mark came with the copy of another directory, and "
                    + "files in it were modified since (HOME/template)",
                "            resval include HOME/thesis",
            ])
    }

    @Test("what git tracks and backups exclude is found, and files that git or an editor replaces")
    func replaced() throws {
        try require(.tool("git"))
        let home = try auditedHome {
            Directory("work/tracked") { File("a") }.excluded()
            File("work/tracked file").excluded()
            Directory("work/ignored") { File("a") }.excluded()
            File("work/notes").purgeable(false)
            File("work/untracked").purgeable(false)
            Directory("work/kept") { File("b").purgeable(false) }.purgeable(false)
            Directory("clone") { File("a") }.excluded()
            Directory("dotted") { File("a") }.excluded()
            File("edited/letter").purgeable(false)
            File("edited/letter~")
            File("edited/plain").purgeable(false)
            File("edited/out").excluded()
            File("edited/out~")
        }
        let work = home.appending("work")
        for directory in [work, home.appending("clone")] {
            try tool("git", "-C", directory, "init", "-q")
        }
        try tool("git", "-C", work, "add", "tracked", "tracked file", "notes", "kept/b")
        try tool("git", "-C", home.appending("clone"), "add", "a")
        try tool("git", "-C", home, "init", "-q", "--bare", ".cfg")
        try tool("git", "-C", home, "--git-dir=.cfg", "--work-tree=.", "add", "dotted/a")
        expect(
            try audit(home, in: home), in: home,
            finds: [
                "HOME/dotted: excluded-tracked: its mark excludes it, and git tracks files in it",
                "            resval include HOME/dotted",
                "HOME/work/tracked: excluded-tracked: its mark excludes it, and git tracks files "
                    + "in it",
                "            resval include HOME/work/tracked",
                "HOME/work/tracked file: excluded-tracked: its mark excludes it, and git "
                    + "tracks it",
                "            resval include 'HOME/work/tracked file'",
                "HOME/edited/letter: fragile: an editor replaces it, as NAME~ beside it shows: then "
                    + "isPurgeable=false is lost, unless its directory has it",
                "            resval set isPurgeable=false HOME/edited",
                "HOME/work/notes: fragile: git tracks it, and replaces it when it updates the work "
                    + "tree: then isPurgeable=false is lost, unless its directory has it",
                "            resval set isPurgeable=false HOME/work",
            ])
    }
}
