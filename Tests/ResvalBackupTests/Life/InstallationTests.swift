import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// Whose snapshots they are is told by what the state directory keeps, not by names.
@Suite("Installations", .cleansUp)
struct InstallationTests {
    private static let tree = Tree { for number in 0..<9 { File("file\(number)", "text") } }

    /// Runs a command with the home of another machine.
    @discardableResult
    private func run(
        _ backup: BackupFixture, home: String, _ arguments: any CommandArgument...,
        exits code: Int32 = 0, says errors: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        try backup.command(arguments).setting(["HOME": "\(backup.base)/\(home)"])
            .run(exits: code, says: errors, sourceLocation: sourceLocation)
    }

    @Test("two machines of one name and path leave each other's snapshots alone")
    func twoMachines() throws {
        let backup = try backup(of: Self.tree)
        try tool("mkdir", backup.base.appending("other"))
        try backup.create()
        let first = try backup.originals()
        try shell(#"rm "$1"/file[1-9]"#, backup.source)
        try run(
            backup, home: "other", "create", backup.source, exits: 3,
            says: "a machine of this name made snapshot \(first[0])")
        try run(backup, home: "other", "create", backup.source)
        try run(backup, home: "other", "forget", "--all", "--keep-last", "1")
        let left = try backup.originals()
        #expect(left.count == 2 && left[0] == first[0], "\(left)")
        try backup.runSuccessfully("forget", "--all", "--keep-last", "1")
        #expect(try backup.originals() == left)
    }

    @Test("a copy of a machine goes on as another one, and accept goes back")
    func copiedState() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let home = backup.base.appending("home")
        try tool("cp", "-a", home, backup.base.appending("copy"))
        try backup.create()
        let made = try backup.originals()
        // The copy does not know the second one.
        try run(
            backup, home: "copy", "forget", "--keep-last", "1",
            says: "nothing is removed: snapshot ")
        try run(
            backup, home: "copy", "create", backup.source, exits: 3,
            says: "snapshot \(made[1]), the one made last, was not made here")
        _ = try run(backup, home: "copy", "forget", "--all", "--keep-last", "1")
        #expect(try backup.originals().count == 3)
        // The machine that made them goes on.
        try backup.create()
        try backup.runSuccessfully("forget", "--keep-last", "1")
        #expect(try backup.originals().count == 2)
    }

    @Test("with its state lost a machine begins anew, until accept")
    func lostState() throws {
        let backup = try backup(of: Self.tree)
        for _ in 0..<2 { try backup.create() }
        try tool("rm", "-r", backup.base.appending("home/.local/state"))
        try backup.run("show", "latest", exits: 0, prints: "\(backup.source)")
        let forget = try backup.run("forget", "--all", "--keep-last", "1", exits: 0)
        #expect(try backup.snapshotCount() == 2, "\(forget)")
        try backup.create(exits: 3, says: "this one's state directory does not know it")
        try backup.runSuccessfully("forget", "--all", "--keep-last", "1")
        #expect(try backup.snapshotCount() == 3)
        try backup.runSuccessfully("accept")
        try backup.create()
        try backup.runSuccessfully("forget", "--keep-last", "1", backup.source)
        // The one made meanwhile belongs to nobody.
        #expect(try backup.snapshotCount() == 2)
    }

    @Test("with its state lost, an incomplete snapshot displaces none, though it is accepted")
    func lostVerdict() throws {
        let backup = try backup(of: Self.tree, user: 54321)
        try backup.create()
        let first = try backup.originals().first
        try shell(#"chmod 0 "$1" && chown 0:0 "$1""#, backup("file1"))
        try backup.create(exits: 3)
        try backup.runSuccessfully("forget", "--keep-last", "1")
        try tool("rm", "-r", backup.base.appending("home/.local/state"))
        try backup.runSuccessfully("accept", backup.source)
        try backup.create(exits: 3)
        #expect(try backup.forget() == 2)
        #expect(try backup.originals().first == first)
    }

    @Test("two disks that take turns at one place keep their SETs")
    func turns() throws {
        let backup = try backup(of: Self.tree)
        let other = backup.base.appending("other")
        try tool("cp", "-r", backup.repository, other)
        for _ in 0..<4 {
            // As copies on one filesystem they cannot be told apart, and what one lacks is told.
            _ = try backup.run("create", backup.source)
            let script = #"mv "$1" "$1.x" && mv "$2" "$1" && mv "$1.x" "$2""#
            try shell(script, backup.repository, other)
            try tool("rm", "-rf", backup.base.appending("cache"))
        }
        #expect(try backup.forget() == 1)
    }

    @Test("accept takes over nothing that another user made, nor what is not backed up here")
    func othersOfThisName() throws {
        let backup = try backup(of: Self.tree, user: 54321)
        for _ in 0..<2 { try backup.create() }
        var accept = backup.command(["accept"])
        accept.user = nil
        accept.environment["HOME"] = "\(backup.base)/root"
        for _ in 0..<2 {
            try accept.run(exits: 1, says: "there is nothing to accept")
            accept.arguments.append(backup.source.bytes)
        }
    }

    @Test("what others tag as a SET's, and a changed number, stop forget and are told of")
    func foreignTags() throws {
        let backup = try backup(of: Self.tree)
        for _ in 0..<2 { try backup.create() }
        try backup.makeForeignSnapshot(of: backup("file0"))
        let refused = try backup.run("forget", "--keep-last", "1")
        #expect(refused.errorText.contains("nothing is removed: "), "\(refused)")
        #expect(refused.errorText.contains(" has the tag resval-set="), "\(refused)")
        try backup.restic("forget", "latest")
        try backup.restic(
            "tag", "--add", "resval-number=7", "--remove", "resval-number=2", "latest")
        try backup.create(exits: 3, says: "cannot be compared")
        try backup.create()
    }

    @Test("where no state can be kept, backups go on, and nothing is forgotten")
    func noState() throws {
        let backup = try backup(of: Self.tree)
        try Tree { File(".local", "") }.create(in: backup.base.appending("home"))
        for _ in 0..<2 {
            try backup.create(exits: 3, says: "the state directory cannot be written")
        }
        _ = try backup.run("forget", "--all", "--keep-last", "1")
        #expect(try backup.snapshotCount() == 2)
    }
}
