import Glibc
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("Purges that are killed from outside", .cleansUp)
struct PurgeKillTests {
    @Test("at any moment: each unit is whole or gone after the next run, documents are whole")
    func anyMoment() throws {
        let clock = ContinuousClock()
        let whole = try purgeHome { crashTree }
        var result: CommandResult?
        let longest = try clock.measure { result = try command(whole).run() }
        #expect(result?.exitCode == 0)
        for moment in killMoments(upTo: longest) {
            try cleaningUp {
                let home = try purgeHome { crashTree }
                _ = try command(home).killed(after: moment).run()
                try expectRecovery(home, "after \(moment)")
            }
        }
    }

    private func command(_ home: PurgeFixture) -> Command {
        Command(.built("test-tool"), "purge", home.home, home.state)
    }
}
