import SystemPackage
import TestSupport
import Testing

@Suite("resval-purge inside a namespace", .cleansUp)
struct NamespaceTests {
    private static let tree = Tree {
        File(".cache/app/file", block)
        Directory(".cache/app/unit") { File("file", block) }
    }

    /// Runs `resval-purge` in a PID namespace of its own, with its own `/proc`, while a process outside
    /// works in the directory.
    private func run(_ home: PurgeHome, _ words: String) throws -> CommandResult {
        try require(.root, .tool("unshare"))
        return try home.shell(
            """
            (cd .cache/app/unit && exec sleep 60) & worker=$!
            unshare --pid --fork --mount-proc "$0" \(words) --min-age 0 --smallest 0
            code=$?
            kill "$worker"
            exit "$code"
            """)
    }

    @Test("keeps directories, which unseen processes may use, and says how to go on")
    func unseen() throws {
        let home = try measuredHome { Self.tree }
        let plan = try run(home, "plan . --free 1M --kept")
        #expect(plan.text.contains("/.cache/app/file\n"), "\(plan)")
        let kept =
            "/.cache/app/unit: processes outside of this PID namespace may use it (if none does: "
            + "--alone, or alone = true in purge.toml)\n"
        #expect(plan.text.contains(kept), "\(plan)")
        #expect(plan.errorText.contains("give --alone if none does"), "\(plan)")
        _ = try run(home, "run . --free 1M --partial")
        #expect(home(".cache/app/unit/file").exists)
        #expect(!home(".cache/app/file").exists)
        let told = try run(home, "plan . --free 1M --alone")
        #expect(told.text.contains("/.cache/app/unit/\n"), "\(told)")
        #expect(!told.errorText.contains("--alone"), "\(told)")
    }

    @Test("does not execute a plan of directories that was made outside")
    func planned() throws {
        let home = try measuredHome { Self.tree }
        _ = try home.run("plan", ".", "--free", "1M", "--min-age", "0", "--output", "plan.json")
        let run = try run(home, "run plan.json --partial")
        #expect(run.errorText.contains("PID namespace"), "\(run)")
        #expect(home(".cache/app/unit/file").exists)
        #expect(!home(".cache/app/file").exists)
    }

    @Test("takes no directory of another user for root's where root has no uid")
    func unmappedRoot() throws {
        try require(.root, .tool("unshare"), .tool("setpriv"))
        let tree = Tree {
            Directory("own") { Directory("build") { File("file", block) }.purgeable() }
            Directory("mallory") { Directory("build") { File("file", block) }.purgeable() }
        }
        let root = try temporaryDirectory(containing: tree, isShared: true)
        let home = PurgeHome(home: root)
        try tool("chown", "-R", "1234", root.appending("own"), root.appending("mallory/build"))
        try tool("chown", "5678", root.appending("mallory"))
        let result = try home.shell(
            """
            unshare --mount --propagation private sh -c '
                mount --bind . /srv
                for name in own mallory; do
                    setpriv --reuid 1234 --regid 1234 --clear-groups \\
                        unshare --user --map-current-user \\
                        env HOME=/srv/own "$0" plan --free 1M --min-age 0 "/srv/$name/build"
                done' "$0"
            """)
        #expect(result.text.contains(" /srv/own/build/\n"), "\(result)")
        #expect(!result.text.contains("/srv/mallory"), "\(result)")
        let refused = "/srv/mallory/build: unsafe path transition: it belongs to another user"
        #expect(result.errorText.contains(refused), "\(result)")
    }

    @Test("takes nobody's files for its own where its user has no uid")
    func unmapped() throws {
        try require(.root, .tool("unshare"), .tool("setpriv"))
        let root = try temporaryDirectory(isShared: true) { Directory("home") }
        let home = PurgeHome(home: root.appending("home"))
        try Self.tree.create(in: home.home)
        try tool("chown", "-R", "1234", home.home)
        // Root is mapped, so that the way to the home is safe, and the user is not.
        let result = try home.shell(
            """
            setpriv --reuid 1234 --regid 1234 --clear-groups unshare --user sh -c '
                echo $$ > pid
                until [ -e go ]; do sleep 0.1; done
                exec "$0" plan . --free 1M --min-age 0 --smallest 0 --kept --json' "$0" &
            until [ -s pid ]; do sleep 0.1; done
            echo "0 0 1" > "/proc/$(cat pid)/uid_map"
            touch go
            wait "$!"
            """)
        #expect(!result.text.contains(#""type":"unit""#), "\(result)")
        #expect(result.text.contains(#""reason":"foreign-owner""#), "\(result)")
    }
}
