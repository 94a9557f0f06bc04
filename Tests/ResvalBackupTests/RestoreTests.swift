import SystemPackage
import TestSupport
import Testing

@Suite("Restoring")
struct RestoreTests {
    private static let tree = Tree {
        File("file", "old")
        Directory("directory") { File("inside", "text") }
    }

    @Test("a target that is not empty is refused unless it may be overwritten")
    func target() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            try Tree { Directory("empty") }.create(in: backup.base)
            let empty = backup.base.appending("empty")
            #expect(
                try backup.run("restore", "--snapshot", "latest", "--target", empty).exitCode == 0)
            let file = empty.pushing(FilePath(root: nil, backup.source.components))
                .appending("file")
            try tool("sh", "-c", "echo newer > \"$1\"", "sh", file)
            let refused = try backup.run("restore", "--snapshot", "latest", "--target", empty)
            #expect(refused.exitCode == 1)
            #expect(refused.errorText.contains("--overwrite"))
            #expect(try tool("cat", file) == "newer")
            let allowed = try backup.run(
                "restore", "--snapshot", "latest", "--target", empty, "--overwrite")
            #expect(allowed.exitCode == 0, "\(allowed)")
            #expect(try tool("cat", file) == "old")
            let noDirectory = try backup.run("restore", "--snapshot", "latest", "--target", file)
            #expect(noDirectory.exitCode == 1)
        }
    }

    @Test("an unknown snapshot and a path that is in none are errors, and nothing is made")
    func nothingToRestore() throws {
        try withBackup(of: Self.tree) { backup in
            let none = try backup.run("restore", "--snapshot", "latest", "--target", backup.target)
            #expect(none.exitCode == 1, "\(none)")
            try backup.runSuccessfully("create", backup.source)
            for arguments in [
                ["--snapshot", "deadbeef"], ["/nowhere"],
                ["\(backup.source)/fil"],
            ] {
                let result = try backup.command(
                    ["restore", "--target", backup.target] + arguments
                ).run()
                #expect(result.exitCode == 1, "\(result)")
                #expect(throws: (any Error).self) { try TreeListing(of: backup.target) }
            }
            let usage = try backup.run("restore", "--snapshot", "xyz", "--target", backup.target)
            #expect(usage.exitCode == 64)
        }
    }

    @Test("latest is the newest snapshot of this program, not of another")
    func latest() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            try backup.restic("backup", backup.base.appending("password"))
            try backup.runSuccessfully("restore", "--snapshot", "latest", "--target", backup.target)
            let restored = try TreeListing(of: backup.restored(backup.source))
            #expect(try restored.differences(from: TreeListing(of: backup.source)) == [])
            let lines = try backup.runSuccessfully("snapshots", "--json").split(separator: "\n")
            #expect(lines.map { $0.contains(#""isOwn":true"#) } == [true, false])
        }
    }

    @Test("a part of a snapshot comes back with all below it, and a part of a name is none")
    func include() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            try backup.runSuccessfully(
                "restore", "--snapshot", "latest", "--target", backup.target,
                "\(backup.source)//directory/")
            let names = try TreeListing(of: backup.restored(backup.source)).items.keys
            let texts = Set(names.map { String(decoding: $0, as: UTF8.self) })
            #expect(texts == ["", "/directory", "/directory/inside"])
        }
    }

    @Test("a full disk makes a restore incomplete, and every item that lacks is named")
    func diskFull() throws {
        try require(.root)
        try withFilesystem(.tmpfs) { volume in
            try withBackup(of: Self.tree) { backup in
                let large = backup.source.appending("large")
                try tool("dd", "if=/dev/urandom", "of=\(large)", "bs=1M", "count=50", "status=none")
                try backup.runSuccessfully("create", backup.source)
                let result = try backup.run(
                    "restore", "--snapshot", "latest", "--target", volume.root.appending("target"))
                #expect(result.exitCode == 3, "\(result)")
                #expect(result.errorText.contains("\(large): was not restored: write "))
                #expect(!result.errorText.contains("/proc/"), "\(result)")
                #expect(!result.errorText.contains("\(backup.source)/file:"))
            }
        }
    }
}
