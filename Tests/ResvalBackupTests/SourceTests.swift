import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("SOURCEs")
struct SourceTests {
    private static let tree = Tree {
        Directory("first") { File("file", "1") }
        Directory("second") { File("file", "2") }
        Directory("marked") {
            File("file", "3")
            Directory("below") { File("file", "4") }
        }.excluded()
        SymbolicLink("link", to: "first")
    }

    @Test("a SOURCE that a mark of its own or above excludes is refused, with the reason")
    func excluded() throws {
        try withBackup(of: Self.tree) { backup in
            for name in ["marked", "marked/below", "marked/below/file"] as [FilePath] {
                let result = try backup.run("create", backup.source.pushing(name), exits: 1)
                #expect(result.errorText.contains("is excluded from backups"))
                let marked = backup.source.appending("marked")
                #expect(
                    result.errorText.contains("resval set isExcludedFromBackup=false \(marked))"))
            }
            #expect(try backup.runSuccessfully("snapshots") == "")
        }
    }

    @Test("a SOURCE that is a symbolic link stands for what it leads to")
    func link() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source.appending("link"))
            let first = backup.source.appending("first")
            #expect(try backup.runSuccessfully("snapshots").hasSuffix("\(first)"))
            try backup.restore()
            let restored = try TreeListing(of: backup.restored(first))
            #expect(try restored.differences(from: TreeListing(of: first)) == [])
        }
    }

    @Test("two SOURCEs make one snapshot, whatever their order")
    func two() throws {
        try withBackup(of: Self.tree) { backup in
            let (first, second) = (
                backup.source.appending("first"), backup.source.appending("second")
            )
            try backup.runSuccessfully("create", first, second)
            let again = try backup.runSuccessfully("create", "--json", second, first)
            #expect(
                again.contains(#""newFiles":0,"changedFiles":0,"unchangedFiles":2,"#), "\(again)")
            #expect(try backup.runSuccessfully("snapshots").contains("\(first), \(second)"))
            try backup.restore()
            for source in [first, second] {
                let restored = try TreeListing(of: backup.restored(source))
                #expect(try restored.differences(from: TreeListing(of: source)) == [])
            }
        }
    }

    @Test("a SOURCE in a directory for caches is stored and judged, also inside another SOURCE")
    func insideLocation() throws {
        let caches = Tree {
            Directory(".cache") {
                Directory("kept") { File("file", "1") }
                Directory("other") { File("file", "2") }
                File("beside", "3")
            }
        }
        try withBackup(of: Self.tree) { backup in
            let home = backup.base.appending("home")
            try caches.create(in: home)
            let kept = home.pushing(".cache/kept")
            let result = try backup.command(
                ["create", home, kept], afterBackup: "echo more >> \(kept)/file"
            ).run(exits: 0)
            #expect(result.errorText.contains("\(kept)/file: warning: changed while"), "\(result)")
            try backup.restore()
            let restored = backup.restored(home.appending(".cache"))
            #expect(try contentsOfFile(restored.pushing("kept/file")) == Array("1".utf8))
            let names = try TreeListing(of: restored).items.keys
            #expect(names.count == 4, "\(names)")
        }
    }

    @Test("a missing SOURCE is named and makes the result incomplete; the others are stored")
    func missing() throws {
        try withBackup(of: Self.tree) { backup in
            let missing = backup.source.appending("missing")
            let result = try backup.run(
                "create", backup.source.appending("first"), missing, exits: 3)
            #expect(result.errorText.contains("\(missing): "))
            #expect(result.text.hasPrefix("snapshot "))
            try backup.run("create", missing, exits: 1)
        }
    }

    @Test("a repository inside the SOURCE is left out, with its reason")
    func repositoryInside() throws {
        try withBackup(of: Self.tree) { backup in
            let plan = try backup.run("plan", "--excluded-only", backup.base, exits: 0)
            #expect(plan.text.contains("exclude   \(backup.repository): it is the repository"))
            try backup.runSuccessfully("create", backup.base)
            try backup.restore()
            let restored = try TreeListing(of: backup.restored(backup.repository))
            #expect(restored.items.count == 1)
        }
    }
}
