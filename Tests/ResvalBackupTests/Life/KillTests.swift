import SystemPackage
import TestSupport
import Testing

@Suite("Commands killed at random moments", .cleansUp)
struct KillTests {
    private static let tree = Tree {
        File("file", "text")
        Directory("directory") {
            for number in 0..<60 {
                File("file\(number)", String(repeating: "\(number)", count: 90_000))
            }
        }
    }

    @Test("create: the next one is clean, nothing is lost, and no records are left")
    func create() throws {
        let backup = try backup(of: Self.tree)
        try backup.exclude(backup("directory/file7"))
        try backup.create()
        #expect(try backup.snapshotCount() == 1)
        for (number, moment) in killMoments(upTo: .milliseconds(2500)).enumerated() {
            try shell(#"head -c 500000 /dev/urandom > "$1""#, backup("new\(number)"))
            _ = try backup.command(["create", backup.source]).killed(after: moment).run()
            try backup.create()
        }
        try backup.ageLocks()
        try backup.runSuccessfully("verify", "latest", "--read-data")
        try backup.restore()
        var before = try TreeListing(of: backup.source)
        before.remove { $0 == Array("/directory/file7".utf8) }
        let after = try TreeListing(of: backup.restored(backup.source))
        #expect(after.differences(from: before) == [])
        try backup.runSuccessfully("forget", "--keep-last", "1", "--prune")
        let left = try shell(#"find "$1" -name 'resval-record*'"#, backup.base.appending("home"))
        #expect(left == "")
    }

    @Test("restore: the next one, with --overwrite, brings everything back")
    func restore() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let before = try TreeListing(of: backup.source)
        for moment in killMoments(upTo: .milliseconds(1500)) {
            _ = try backup.command(["restore", "--snapshot", "latest", "--target", backup.target])
                .killed(after: moment).run()
            try backup.restore("--overwrite")
            let after = try TreeListing(of: backup.restored(backup.source))
            #expect(after.differences(from: before) == [], "after \(moment)")
            try tool("rm", "-r", backup.target)
        }
    }

    @Test("accept: the snapshot is there, waits or is accepted, and the next one settles it")
    func accept() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        for (number, moment) in killMoments(upTo: .milliseconds(1500)).enumerated() {
            // Below a directory that no snapshot before had left out.
            let name = "directory/file\(number)"
            try backup.exclude(backup.source.appending(name))
            try backup.create()
            _ = try backup.command(["accept"]).killed(after: moment).run()
            try backup.ageLocks()
            let next = try backup.run("accept")
            #expect([0, 1].contains(next.exitCode), "after \(moment): \(next)")
            try backup.run("forget", "--keep-last", "100", exits: 0)
            #expect(try backup.snapshotCount() == number + 2)
        }
        // Needs the repository for itself.
        try backup.ageLocks()
        try backup.create()
        try backup.restic("check", "--read-data")
    }

    @Test("what a killed tag left beside its copy is not listed, and goes with the copy")
    func halfTagged() throws {
        let backup = try backup { File("file", "text") }
        try backup.create()
        let (snapshots, saved) = (
            backup.repository.appending("snapshots"), backup.base.appending("saved")
        )
        try tool("cp", "-a", snapshots, saved)
        try backup.restic("tag", "--add", "other", "latest")
        try tool("cp", "-a", "\(saved)/.", snapshots)
        #expect(try backup.snapshotCount() == 1)
        try backup.create()
        try backup.runSuccessfully("forget", "--keep-last", "1")
        #expect(try tool("ls", snapshots).split(separator: "\n").count == 1)
    }
}
