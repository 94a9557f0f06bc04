import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import EffectiveValues

@Suite("Limits of asking git, and of looking for work trees", .cleansUp)
struct GitLimitTests {
    private static let project = Tree {
        Directory("p/.git")
        File("p/Cargo.toml")
        File("p/a.log")
        File("p/target/object")
    }

    /// Makes a program that is called instead of git.
    private func git(
        _ script: String, in root: FilePath, timeLimit: Duration = .seconds(60),
        budget: Duration = .seconds(180)
    ) throws -> GitCommand {
        try Tree {
            File("programs/git", "#!/bin/sh\n\(script)\n").permissions(0o755)
        }.create(in: root)
        return GitCommand(
            searchPath: root.appending("programs").bytes, timeLimit: timeLimit, budget: budget)
    }

    @Test("all work trees together have one budget of time, after which none is asked")
    func budget() throws {
        let names = (0..<40).map { "p\($0)" }
        let root = try temporaryDirectory {
            for name in names {
                Directory(FileName(stringLiteral: name)) {
                    Directory(".git")
                    File("Cargo.toml")
                    Directory("target")
                }
            }
        }
        let reader = try reader(
            git(
                "exec sleep 600", in: root, timeLimit: .milliseconds(300),
                budget: .milliseconds(700)))
        let start = ContinuousClock.now
        let reasons = try names.map { name in
            let marks = try reader.marks(
                of: root.appending(name).appending("target"), kind: .directory)
            #expect(marks.foreign.excluding == [])
            return try #require(marks.foreign.uncertain[.rules])
        }
        // Without the budget these are 12 seconds.
        #expect(ContinuousClock.now - start < .seconds(6))
        let prefix = "target beside Cargo.toml, but whether it is tracked is unknown: "
        #expect(reasons[0] == prefix + "git did not answer within 0.3 seconds")
        #expect(
            reasons.suffix(37).allSatisfy {
                $0 == prefix + "git has taken 0.7 seconds in all work trees together"
            }, "\(reasons)")
    }

    @Test(
        "an answer of a git that fails excludes nothing",
        arguments: [
            "printf 'a.log\\0'; exit 1", "printf 'a.log'", "printf 'a.log\\0'; kill -9 $$",
            "exit 128",
        ])
    func failing(script: String) throws {
        let root = try temporaryDirectory(containing: Self.project)
        let reader = try reader(git(script, in: root))
        func marks(_ path: String, _ kind: FileKind) throws -> ForeignMarks {
            try reader.marks(of: root.appending(path), kind: kind).foreign
        }
        let top = try marks("p", .directory)
        #expect(top.uncertain[.gitignore]?.hasPrefix("git ls-files fails in the") == true)
        try #expect(marks("p/a.log", .regularFile) == .none)
        let target = try marks("p/target", .directory)
        #expect(target.excluding == [])
        #expect(target.uncertain[.rules]?.contains("git ls-files fails in the") == true)
    }

    @Test("what git ignores is excluded where the same git does not fail")
    func notFailing() throws {
        let root = try temporaryDirectory(containing: Self.project)
        let reader = try reader(git("printf 'a.log\\0'", in: root))
        _ = try reader.marks(of: root.appending("p"), kind: .directory)
        let marks = try reader.marks(of: root.appending("p/a.log"), kind: .regularFile)
        #expect(marks.foreign.excluding == [.gitignore])
    }

    @Test("work trees inside one that cannot be asked keep no descriptor")
    func descriptors() throws {
        let names = (0..<300).map { "p\($0)" }
        let root = try temporaryDirectory {
            Directory(".hg")
            for name in names {
                Directory(FileName(stringLiteral: name)) {
                    Directory(".git")
                    File("Cargo.toml")
                    Directory("target")
                }
            }
        }
        let reader = try reader(git("exit 0", in: root))
        for name in names {
            let marks = try reader.marks(
                of: root.appending(name).appending("target"), kind: .directory)
            #expect(
                marks.foreign.uncertain[.rules]?.contains(".hg is above it") == true,
                "\(marks)")
        }
        var open = 0
        for name in try tool("ls", "/proc/\(processNumber())/fd").split(separator: "\n") {
            let link = FilePath("/proc/self/fd").appending(String(name)).withoutFollowing
            // Others of this process come and go.
            if let target = try? symbolicLinkTarget(link), target.starts(with: root) {
                open += 1
            }
        }
        #expect(open == 0)
    }

    @Test("the search for work trees does not enter another filesystem, which may never answer")
    func mounts() throws {
        try require(.root, .tool("git"))
        let root = try temporaryDirectory {
            Directory("p/.git")
            File("p/package.json")
            Directory("p/node_modules/mounted")
        }
        let modules = root.appending("p/node_modules")
        let mount = modules.appending("mounted")
        try tool("mount", "-t", "tmpfs", "tmpfs", mount)
        defer { _ = try? tool("umount", mount) }
        try Tree { Directory(".git") }.create(in: mount)
        let reader = try reader(git("printf 'node_modules/\\0'", in: root))
        _ = try reader.marks(of: root.appending("p"), kind: .directory)
        let marks = try reader.marks(of: modules, kind: .directory).foreign
        #expect(marks.excluding == [])
        #expect(marks.uncertain[.gitignore]?.hasPrefix("another filesystem is in it") == true)
    }

    @Test("the search for what tools re-create does not enter another filesystem, either")
    func mountInRebuilt() throws {
        try require(.root)
        let root = try temporaryDirectory {
            File("package.json")
            Directory("node_modules") { Directory("mounted") }
        }
        let mount = root.appending("node_modules/mounted")
        try tool("mount", "-t", "tmpfs", "tmpfs", mount)
        defer { _ = try? tool("umount", mount) }
        try Tree { Directory(".git") }.create(in: mount)
        let marks = try reader(GitCommand()).marks(
            of: root.appending("node_modules"), kind: .directory
        ).foreign
        #expect(
            marks.uncertain == [
                .rules:
                    "node_modules beside package.json, but another filesystem is in it"
            ])
    }

    @Test("directories in each other that are made again are read once, not once for each level")
    func nestedDirectories() throws {
        let levels = 60
        let root = try temporaryDirectory()
        var paths: [FilePath] = []
        var path = root
        for _ in 0..<levels {
            path.append("target")
            paths.append(path)
            try Tree {
                File("Cargo.toml"); Directory("target")
            }
            .create(in: path.removingLastComponent())
        }
        for isUncertain in [true, false] {
            if isUncertain { try Tree { Directory(".git") }.create(in: path) }
            let rules = try RecreationRules(homes: [])
            let reader = MarkReader([.rules], DerivedMarkReader(rules: rules))
            let mock = SystemCallMock([:])
            try mock.run {
                for path in paths {
                    let marks = try reader.marks(of: path, kind: .directory).foreign
                    #expect(marks.excluding == (isUncertain ? [] : [.rules]), "\(path)")
                }
            }
            // Twice for each directory.
            let reads = mock.calls[.getdents64, default: 0]
            #expect(reads > levels)
            #expect(reads < 8 * levels, "\(reads)")
            if isUncertain { try tool("rmdir", path.appending(".git")) }
        }
    }

    @Test("an index with one path of very many names takes no memory for each of them")
    func deepIndex() throws {
        try require(.tool("git"), .tool("prlimit"))
        let root = try temporaryDirectory(containing: Self.project)
        let project = root.appending("p")
        try tool("rm", "-r", project.appending(".git"))
        try tool("git", "-C", project, "init", "-q")
        let deep = Array(repeating: "target", count: 60_000).joined(separator: "/")
        var index = Command(
            try #require(FilePath.tool("git")),
            arguments: ["-C", project, "update-index", "--index-info"])
        let blob = String(repeating: "1", count: 40)
        index.input = Array("100644 \(blob)\t\(deep)/file\n".utf8)
        try index.runSuccessfully()
        var find = Command(
            try #require(FilePath.tool("prlimit")),
            arguments: [
                "--as=\(4 << 30)", FilePath.built("resval"), "find", "--effective",
                "--excluded", "--markers", "native,rules", project,
            ])
        // In its home the tree is in no directory for temporary files.
        find.environment["HOME"] = root.string
        expect(try find.run(), exits: 0)
    }
}
