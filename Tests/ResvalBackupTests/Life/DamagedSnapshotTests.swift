import SystemPackage
import TestSupport
import Testing

/// One damaged snapshot keeps nobody from the others.
@Suite("Damaged snapshots among others")
struct DamagedSnapshotTests {
    private static let tree = Tree {
        for number in 0..<9 { File("file\(number)", "text") }
    }

    /// Whether it is named, and with the exit code all else goes on.
    private func expectOthersToWork(
        _ source: FilePath, _ target: FilePath, damaged: Substring, whole: Substring,
        _ command: ([any CommandArgument]) throws -> Command
    ) throws {
        let commands: [(words: [any CommandArgument], code: Int32)] = [
            (["snapshots"], 3), (["show", String(whole)], 0), (["show", "latest", "--items"], 0),
            (["diff", String(whole), "latest"], 0),
            (["restore", "--snapshot", String(whole), "--target", target], 0),
            (["create", source], 0),
            (["forget", "--keep-last", "2", "--dry-run"], 0), (["verify"], 1),
        ]
        for (words, code) in commands {
            let result = try command(words).run(exits: code)
            #expect(result.errorText.contains(damaged), "\(words): \(result)")
        }
        let wanted = try command(["show", String(damaged)]).run(exits: 1)
        #expect(wanted.errorText.contains("cannot be read"), "\(wanted)")
        let verified = try command(["verify"]).run()
        #expect(!verified.text.contains("repair snapshots"), "\(verified)")
    }

    /// The first digits of the identifier of a new snapshot.
    private func create(_ command: Command) throws -> Substring {
        try command.runSuccessfully().dropFirst("snapshot ".count).prefix(8)
    }

    @Test("restic: a damaged snapshot file, where no cache has it")
    func restic() throws {
        for damage in ["printf x | dd of=\"$1\" bs=1 seek=60 conv=notrunc", ": > \"$1\""] {
            try withBackup(of: Self.tree) { backup in
                let damaged = try create(backup.command(["create", backup.source]))
                let whole = try create(backup.command(["create", backup.source]))
                try shell(
                    """
                    set -- "$1/snapshots/$2"*; chmod u+w "$1"; \(damage) 2>/dev/null
                    """, backup.repository, String(damaged))
                try tool("rm", "-rf", backup.base.appending("cache"))
                try expectOthersToWork(
                    backup.source, backup.target, damaged: damaged, whole: whole
                ) {
                    backup.command($0)
                }
            }
        }
    }

    @Test("with the first snapshot of other SOURCEs it is told that what is damaged may be of them")
    func firstOfAnotherSet() throws {
        try withBackup(of: Self.tree) { backup in
            let damaged = try create(backup.command(["create", backup.source]))
            try shell(
                #"set -- "$1/snapshots/$2"*; chmod u+w "$1"; : > "$1""#, backup.repository,
                String(damaged))
            try tool("rm", "-rf", backup.base.appending("cache"))
            let other = try backup.run("create", backup.base.appending("home"), exits: 3)
            #expect(other.errorText.contains("or it is one that cannot be read: "))
            try backup.run("create", backup.base.appending("home"), exits: 0)
        }
    }
}
