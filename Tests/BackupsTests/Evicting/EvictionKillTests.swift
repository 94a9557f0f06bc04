import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("Evictions and downloads that are killed from outside")
struct EvictionKillTests {
    @Test("at any moment from outside: the file is whole, or can be brought back")
    func anyMoment() throws {
        try withHeldFile { fixture in
            for work in ["evict", "download"] {
                if work == "download" { try fixture.evict() }
                let clock = ContinuousClock()
                var result: CommandResult?
                let longest = try clock.measure { result = try command(work, fixture).run() }
                #expect(result?.exitCode == 0)
                try checkAndRepair(fixture, "\(work), whole")
                for moment in killMoments(upTo: longest) {
                    if work == "download" { try fixture.evict() }
                    _ = try command(work, fixture).killed(after: moment).run()
                    try checkAndRepair(fixture, "\(work) after \(moment)")
                }
            }
        }
    }
}
