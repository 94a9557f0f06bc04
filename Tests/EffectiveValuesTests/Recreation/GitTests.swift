import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import EffectiveValues

/// A reader of what tools re-create and git ignores.
func reader(_ git: GitCommand = GitCommand()) throws -> MarkReader {
    let rules = try RecreationRules(homes: [])
    return MarkReader(
        [.rules, .gitignore],
        DerivedMarkReader(rules: rules, ignored: IgnoredItems(rules, git), git: git))
}

@Suite("What git tracks and ignores", .cleansUp)
struct GitTests {
    private static let project = Tree {
        File("p/Cargo.toml", "x")
        File("p/target/object", "x")
        File("p/sub/Cargo.toml", "x")
        File("p/sub/target/object", "x")
    }

    /// Makes a repository in a directory, and adds paths to its index.
    private func initialize(_ directory: FilePath, adding paths: String...) throws {
        try require(.tool("git"))
        try git(directory, "init", "-q")
        if !paths.isEmpty {
            let words: [any CommandArgument] = ["add", "-f", "--"] + paths
            try git(directory, words)
        }
    }

    private func git(_ directory: FilePath, _ arguments: any CommandArgument...) throws {
        try git(directory, arguments)
    }

    private func git(_ directory: FilePath, _ arguments: [any CommandArgument]) throws {
        let program = try #require(FilePath.tool("git"))
        let words: [any CommandArgument] = ["-C", directory] + arguments
        try Command(program, arguments: words).runSuccessfully()
    }

    @Test("nothing that a work tree around it tracks is excluded")
    func tracked() throws {
        let root = try temporaryDirectory(containing: Self.project)
        try initialize(root.appending("p"), adding: "Cargo.toml", "sub/target/object")
        let reader = try reader()
        func excluding(_ path: String) throws -> Set<Marker> {
            try reader.marks(of: root.appending(path), kind: .directory).foreign.excluding
        }
        try #expect(excluding("p/target") == [.rules])
        try #expect(excluding("p/sub/target") == [])
    }

    @Test("a work tree inside another counts, and so does the outer one")
    func nested() throws {
        let root = try temporaryDirectory(containing: Self.project)
        try initialize(root.appending("p"), adding: "sub/target/object")
        try initialize(root.appending("p/sub"))
        let marks = try reader().marks(of: root.appending("p/sub/target"), kind: .directory)
        #expect(marks.foreign.excluding == [])
        #expect(marks.foreign.isReadable)
    }

    @Test(
        "what a repository of dotfiles tracks is not excluded, and another bare one tracks nothing",
        arguments: [".dotfiles", ".local/share/yadm/repo.git", ".config/vcsh/repo.d/vim.git"])
    func dotfiles(repository: String) throws {
        try require(.tool("git"))
        let root = try temporaryDirectory(containing: Self.project)
        func excluding(_ path: String, homes: [FilePath]) throws -> Set<Marker> {
            let reader = MarkReader(
                [.rules], DerivedMarkReader(rules: try RecreationRules(homes: homes)))
            return try reader.marks(of: root.appending(path), kind: .directory).foreign
                .excluding
        }
        try git(root, "init", "-q", "--bare", repository)
        try #expect(excluding("p/target", homes: [root]) == [.rules])
        try git(root, "--git-dir=\(repository)", "--work-tree=.", "add", "-f", "p/target")
        // Its settings start no program.
        try Tree { File("program", "#!/bin/sh\ntouch \(root)/proof\n").permissions(0o755) }
            .create(in: root)
        let program = root.appending("program")
        try git(root, "--git-dir=\(repository)", "config", "core.fsmonitor", program)
        try #expect(excluding("p/target", homes: [root]) == [])
        try #expect(excluding("p/sub/target", homes: [root]) == [.rules])
        try #expect(excluding("p/target", homes: []) == [.rules])
        #expect(try root.appending("proof").withoutFollowing.statusIfPresent() == nil)
    }

    @Test("where git cannot be asked nothing is excluded, and the reason is said")
    func unknown() throws {
        let root = try temporaryDirectory(containing: Self.project)
        try initialize(root.appending("p"))
        func uncertain(_ git: GitCommand) throws -> String? {
            let marks = try reader(git).marks(of: root.appending("p/target"), kind: .directory)
            #expect(marks.foreign.excluding == [])
            return marks.foreign.uncertain[.rules]
        }
        let prefix = "target beside Cargo.toml, but whether it is tracked is unknown: "
        try #expect(
            uncertain(GitCommand(searchPath: Array("/nowhere:relative".utf8)))
                == prefix + "git is not installed")
        try Tree {
            File("broken", "x")
            File("silent/git", "#!/bin/sh\nexec sleep 600\n").permissions(0o755)
        }.create(in: root)
        let silent = GitCommand(
            searchPath: root.appending("silent").bytes, timeLimit: .milliseconds(500))
        try #expect(uncertain(silent) == prefix + "git did not answer within 0.5 seconds")
        try tool("cp", root.appending("broken"), root.appending("p/.git/index"))
        try #expect(
            uncertain(GitCommand())
                == prefix + "git ls-files fails in the work tree with exit code 128")
    }

    @Test("git is not run in the work tree of another user")
    func owner() throws {
        try require(.root, .tool("git"))
        let root = try temporaryDirectory(containing: Self.project)
        try initialize(root.appending("p"))
        try tool("chown", "-R", "12345:12345", root.appending("p"))
        let marks = try reader().marks(of: root.appending("p/target"), kind: .directory)
        #expect(
            marks.foreign.uncertain[.rules]
                == "target beside Cargo.toml, but whether it is tracked is unknown: "
                + "the work tree belongs to another user")
    }

    @Test("the settings of a work tree start no program")
    func hostileSettings() throws {
        let root = try temporaryDirectory {
            File("p/Cargo.toml", "x")
            File("p/.gitignore", "*.log\n")
            File("p/a.log", "x")
            File("p/target/object", "x")
        }
        let (project, proof) = (root.appending("p"), root.appending("proof"))
        try initialize(project, adding: "Cargo.toml")
        try git(project, "-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-qm", "x")
        let script = "sh -c 'echo $0 >> \(proof)'"
        let program = "\(root)/program"
        try Tree { File("program", "#!/bin/sh\necho \"$0 $*\" >> \(proof)\n").permissions(0o755) }
            .create(in: root)
        for name in [
            "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass",
            "credential.helper", "diff.external", "core.alternateRefsCommand", "gpg.program",
            "core.gitProxy", "uploadpack.packObjectsHook",
        ] { try git(project, "config", name, program) }
        for name in ["alias.ls-files", "pager.ls-files"] {
            try git(project, "config", name, "!\(script)")
        }
        try git(project, "config", "core.hooksPath", root)
        try git(project, "config", "filter.x.clean", program)
        try git(project, "config", "core.attributesFile", root.appending("attributes"))
        try git(project, "config", "remote.origin.url", "ext::\(program)")
        try git(project, "config", "remote.origin.promisor", "true")
        try git(project, "config", "protocol.ext.allow", "always")
        try git(project, "config", "extensions.partialClone", "origin")
        try Tree {
            File("attributes", "* filter=x\n")
            for hook in ["post-index-change", "fsmonitor-watchman", "query-watchman"] {
                File(FileName(stringLiteral: hook), "#!/bin/sh\necho hook >> \(proof)\n")
                    .permissions(0o755)
            }
        }.create(in: root)
        let reader = try reader()
        let target = try reader.marks(of: project.appending("target"), kind: .directory)
        _ = try reader.marks(of: project, kind: .directory)
        let log = try reader.marks(of: project.appending("a.log"), kind: .regularFile)
        #expect(target.foreign.excluding == [.rules], "\(target)")
        #expect(log.foreign.excluding == [.gitignore], "\(log)")
        #expect(try proof.withoutFollowing.statusIfPresent() == nil)
        // The guards are what prevents it: git by itself runs such a program.
        try git(project, "status", "--short")
        #expect(try proof.withoutFollowing.statusIfPresent() != nil)
    }

    @Test("what git ignores is excluded, but nothing that it tracks and no other repository")
    func ignored() throws {
        let odd = FileName([0x61, 0xFF, 0x0A, 0x62])
        let tree = Tree {
            Directory("p") {
                File(".gitignore", "*.log\nout/\nkept/\nother/\na*b\n")
                File("a.log", "x")
                File("b.log", "x")
                File("twin.log", "x")
                HardLink("twin", to: "p/twin.log")
                File("source", "x")
                File(odd, "x")
                Directory("out") { File("object", "x") }
                File("kept/tracked", "x")
                File("kept/object", "x")
                Directory("other") { Directory("deep") { Directory("clone") } }
            }
        }
        let root = try temporaryDirectory(containing: tree)
        let project = root.appending("p")
        try initialize(project, adding: "source", "b.log", "kept/tracked")
        try initialize(project.appending("other/deep/clone"))
        let reader = try reader()
        func marks(_ path: FilePath, _ kind: FileKind = .regularFile) throws -> ForeignMarks {
            try reader.marks(of: path, kind: kind).foreign
        }
        // Before its work tree was met nothing is known about an item.
        try #expect(marks(project.appending("a.log")) == .none)
        try #expect(marks(project, .directory) == .none)
        for name in ["a.log", "twin.log", "kept/object"] {
            try #expect(marks(project.appending(name)).excluding == [.gitignore], "\(name)")
        }
        try #expect(marks(project.pushing(FilePath(bytes: odd.bytes))).excluding == [.gitignore])
        try #expect(marks(project.appending("out"), .directory).excluding == [.gitignore])
        for name in ["source", "b.log", "kept/tracked", "twin"] {
            try #expect(marks(project.appending(name)) == .none, "\(name)")
        }
        try #expect(marks(project.appending("kept"), .directory) == .none)
        try #expect(
            marks(project.appending("other"), .directory)
                == ForeignMarks(
                    uncertain: [
                        .gitignore: "a work tree is in it, with files of its own"
                    ]))
        // The policy spares a file with several names.
        let item = try EffectiveValueReader(StoragePolicy()).item(at: project.appending("twin.log"))
        let decision = StoragePolicy(markers: [.gitignore]).decide(
            .none, kind: .regularFile, in: .empty,
            foreignMarks: ForeignMarks(excluding: [.gitignore]), name: [],
            path: item.path, linkCount: item.status.linkCount, isMountRoot: false)
        #expect(decision.exclusion.ownCause == .hardLinked(linkCount: 2))
    }

    @Test("the ignore rules of a home are for its settings alone")
    func home() throws {
        let root = try temporaryDirectory {
            File("home/.gitignore", "*\n")
            File("home/letter", "x")
        }
        let home = root.appending("home")
        try initialize(home)
        let rules = try RecreationRules(homes: [home])
        let reader = MarkReader(
            [.gitignore],
            DerivedMarkReader(rules: nil, ignored: IgnoredItems(rules, GitCommand())))
        let marks = try reader.marks(of: home, kind: .directory).foreign
        #expect(marks.uncertain == [.gitignore: "the work tree is a home, or a home is in it"])
        try #expect(reader.marks(of: home.appending("letter"), kind: .regularFile) == .none)
    }

    @Test("without an index a commit says nothing of what is tracked", arguments: [false, true])
    func failedCheckout(isLinked: Bool) throws {
        let root = try temporaryDirectory(containing: Self.project)
        let project = root.appending("p")
        try initialize(project, adding: "Cargo.toml", "target/object")
        try Tree {
            File(".gitignore", "target\n"); File("HEAD")
        }.create(in: project)
        if isLinked {
            // A work tree whose repository is elsewhere, as of a submodule.
            try git(project, "init", "-q", "--separate-git-dir", root.appending("repository"))
        }
        func marks(_ path: String) throws -> ForeignMarks {
            let reader = try reader()
            _ = try reader.marks(of: project, kind: .directory)
            return try reader.marks(of: root.appending(path), kind: .directory).foreign
        }
        try #expect(marks("p/target").excluding == [])
        try #expect(marks("p/sub/target").excluding == [.rules, .gitignore])
        let index = root.appending(isLinked ? "repository/index" : "p/.git/index")
        try tool("rm", index)
        // Nothing was ever committed: then nothing is tracked.
        try #expect(marks("p/sub/target").excluding == [.rules, .gitignore])
        try git(project, "add", "-f", "target/object")
        try git(project, "-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-qm", "x")
        try tool("rm", index)
        for path in ["p/target", "p/sub/target"] {
            let unknown = try marks(path)
            #expect(unknown.excluding == [])
            #expect(unknown.uncertain[.rules]?.contains("git has no index") == true)
        }
        let top = try reader().marks(of: project, kind: .directory).foreign
        #expect(top.uncertain[.gitignore]?.contains("git has no index") == true)
    }

    @Test("settings of a home write no file, and its ignore rules count where it is one's own")
    func settingsOfHome() throws {
        try require(.root, .tool("git"))
        let root = try temporaryDirectory(isShared: true) {
            Directory("home") {
                Directory(".config") { Directory("git") { File("ignore", "*.tmp\n") } }
            }
            Directory("p") {
                File("a.tmp", "x"); File("a.log", "x"); File("source", "x")
            }
        }
        let (home, project) = (root.appending("home"), root.appending("p"))
        let proof = root.appending("proof")
        try initialize(project, adding: "source")
        func excluded() throws -> [String] {
            let git = GitCommand(home: home, configuration: nil)
            let rules = try RecreationRules(homes: [])
            let reader = MarkReader(
                [.gitignore],
                DerivedMarkReader(rules: nil, ignored: IgnoredItems(rules, git), git: git))
            let top = try reader.marks(of: project, kind: .directory).foreign
            let names = try ["a.tmp", "a.log", "source"].filter { name in
                try reader.marks(of: project.appending(name), kind: .regularFile).foreign
                    .excluding == [.gitignore]
            }
            return names + (top.uncertain[.gitignore].map { [$0] } ?? [])
        }
        try #expect(excluded() == ["a.tmp"])
        try Tree {
            File(
                ".gitconfig",
                """
                [trace2]
                    normalTarget = \(proof)
                [core]
                    excludesFile = ~/ignored
                """)
            File("ignored", "*.log\n")
        }.create(in: home)
        try #expect(excluded() == ["a.log"])
        try #expect(proof.withoutFollowing.statusIfPresent() == nil)
        try tool("chmod", "666", home.appending("ignored"))
        try #expect(excluded() == [])
        try tool("chown", "-R", "12345:12345", home)
        try #expect(excluded() == ["the home in HOME belongs to another user"])
        try #expect(proof.withoutFollowing.statusIfPresent() == nil)
        // The guards are what prevents it: git by itself writes there.
        _ = try Command(
            try #require(FilePath.tool("git")), arguments: ["-C", project, "status"],
            environment: ["HOME": home.string]
        ).run()
        try #expect(proof.withoutFollowing.statusIfPresent() != nil)
    }
}
