import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

/// Another client of the same repository makes snapshots to lead this one astray.
@Suite("Snapshots of a hostile client", .cleansUp)
struct HostileRepositoryTests {
    private static let tree = Tree { File("file", "text") }

    /// Makes a snapshot with tags that others are to believe.
    private func forge(_ backup: BackupFixture, tags: [String], host: String? = nil) throws {
        var words = ["backup", "--host", try host ?? tool("hostname")]
        for tag in tags { words += ["--tag", tag] }
        try backup.restic(arguments: words + ["\(backup.source)"])
    }

    @Test("a record's tag that is an option of restic runs nothing")
    func orders() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let owned = backup.base.appending("owned")
        let order = "--password-command=/usr/bin/touch%20\(owned)"
        let tags = try backup.ownTags().filter { !$0.hasPrefix("resval-record=") }
        #expect(tags.count == 4)
        try forge(backup, tags: tags + ["resval-record=\(order)"])
        let list = try backup.restic("snapshots", "--json", "latest")
        #expect(list.contains("password-command"))
        let forged = try #require(
            try backup.snapshotsOfRestic().last {
                $0.allTags.contains { $0.hasSuffix("owned") }
            }
        )
        .identifier
        for arguments in [
            ["show", forged], ["show", forged, "--excluded"], ["show", forged, "--items"],
            ["diff", forged, forged], ["create", "\(backup.source)"],
            ["restore", "--snapshot", forged, "--target", "\(backup.target)"],
            ["forget", "--keep-last", "9"],
        ] {
            try forge(backup, tags: tags + ["resval-record=\(order)"])
            var command = backup.command(arguments)
            // With a password file restic would refuse the option for another reason.
            command.environment["RESTIC_PASSWORD_FILE"] = String?.none
            command.environment["RESTIC_PASSWORD"] = repositoryPassword
            let result = try command.run()
            #expect(throws: Errno.noSuchFileOrDirectory, "\(arguments): \(result)") {
                try owned.status()
            }
            #expect(!result.errorText.contains("mutually exclusive"), "\(result)")
        }
        try backup.create()
    }

    @Test("a record's tag that leads up removes nothing in a restore")
    func pathsThatLeadUp() throws {
        let backup = try backup(of: Self.tree)
        try Tree { File("resval-record-victim", "text") }.create(in: backup.base)
        let up = String(repeating: "/..", count: backup.source.components.count + 1)
        try forge(backup, tags: ["resval-record=\(backup.source)\(up)/resval-record-victim"])
        let identifier = try #require(try backup.snapshotIdentifiers().first)
        try backup.run(
            "restore", "--snapshot", identifier, "--target", backup.target, backup.source,
            exits: 0)
        #expect(try tool("cat", backup.restored(backup.source).appending("file")) == "text")
        #expect(try tool("cat", backup.base.appending("resval-record-victim")) == "text")
    }

    @Test("names of machines and tags cannot drive a terminal")
    func terminals() throws {
        let backup = try backup(of: Self.tree)
        try forge(
            backup, tags: ["\u{1B}]0;title\u{07}", "\u{9B}31m", "a\nb"],
            host: "\u{1B}[2J\u{1B}[H")
        let identifier = try #require(try backup.snapshotIdentifiers().first)
        for arguments in [
            ["snapshots"], ["snapshots", "--json"], ["show", identifier],
            ["show", identifier, "--json"], ["show", identifier, "--items"],
            ["forget", "--all", "--keep-last", "1"],
        ] {
            let result = try backup.command(arguments).run()
            for text in [result.text, result.errorText] {
                #expect(
                    !text.unicodeScalars.contains {
                        $0 != "\n" && $0.properties.generalCategory == .control
                    }, "\(arguments)")
            }
            #expect(!result.text.contains("a\nb"))
        }
    }

    @Test("tags and SOURCEs that begin with a dash are neither options of ours nor of restic")
    func dashes() throws {
        let backup = try backup { Directory("-n") { File("--json", "text") } }
        var command = backup.command(["create", "--tag=--dry-run", "--", "-n", "./-n/--json"])
        command.workingDirectory = backup.source
        try command.runSuccessfully()
        try backup.run("snapshots", "--json", exits: 0, prints: #""tags":["--dry-run"]"#)
        try backup.run("show", "latest", "--items", exits: 0, prints: "\(backup.source)/-n/--json")
        try backup.run(
            "forget", "--all", "--keep-last=1", "--keep-tag=--host=elsewhere", "--dry-run",
            exits: 0)
    }
}
