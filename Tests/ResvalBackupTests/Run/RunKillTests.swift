import SystemPackage
import TestSupport
import Testing

@Suite("resval-backup run, killed")
struct RunKillTests {
    // Each half has a backup of its own, so that both can be tested at the same time.
    @Test(
        "after kill -9 at any moment nothing is lost, and the next run is clean",
        arguments: 0..<2)
    func killed(half: Int) throws {
        let tree = Tree {
            for number in 0..<50 {
                File(
                    "f\(number)", String(repeating: "\(number) ", count: 2000)
                )
            }
        }
        try withRun(of: tree) { fixture in
            try fixture.configure(fixture.usual + fixture.upkeep)
            try fixture.command("run").runSuccessfully()
            // Every moment has to leave the snapshots that retention keeps.
            try fixture.command("run").runSuccessfully()
            for (number, moment) in killMoments(upTo: .seconds(8)).enumerated()
            where number % 2 == half {
                _ = try fixture.command("run").killed(after: moment).run()
                try fixture.backup.ageLocks(in: fixture.state)
                try fixture.command("run").run(exits: 0)
                let status = try fixture.command("status").run(exits: 0)
                #expect(status.text.contains("last verified: "))
            }
            let snapshots = try fixture.backup.restic("snapshots", "--json")
            #expect(snapshots.split(separator: "\"tree\"").count == 3)
            // Reads all data, and needs the repository for itself.
            try fixture.backup.restic("check", "--read-data")
            let listing = try fixture.backup.restic("ls", "latest")
            #expect(listing.split(separator: "\n").count { $0.contains("/source/f") } == 50)
        }
    }
}

extension RunFixture {
    /// Every step, each time.
    var upkeep: String {
        """
        verify = "always"
        prune = "always"

        [retention]
        keep-last = 2
        """
    }
}
