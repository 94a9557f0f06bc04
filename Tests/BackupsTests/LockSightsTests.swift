import Testing

@testable import Backups

@Suite("For how long locks were seen")
struct LockSightsTests {
    private static let minute: Int64 = 60

    /// Sights by a clock in minutes, each kept in a file and read again.
    private struct Looks {
        var file: [UInt8] = []
        var boot = "boot"

        mutating func see(_ locks: String..., at minutes: Int64) -> Set<String> {
            var sights = LockSights(file)
            defer { file = sights.contents }
            return sights.see(locks, bootIdentifier: boot, bootTime: minutes * minute)
        }
    }

    @Test("a lock is dead after 31 minutes, and not before, whether others come and go or not")
    func oneRun() {
        var sights = LockSights()
        let see = { (locks: [String], seconds: Int64) in
            sights.see(locks, bootIdentifier: "boot", bootTime: seconds)
        }
        #expect(see(["a"], 1000) == [])
        #expect(see(["a", "b"], 1300) == [])
        #expect(see(["c", "a"], 1000 + 1859) == [])
        #expect(see(["c", "a"], 1000 + 1860) == ["a"])
        #expect(see(["c", "a"], 1300 + 1860) == ["a"])
    }

    @Test("the time adds up over runs")
    func threeRuns() {
        var looks = Looks()
        #expect(looks.see("a", at: 100) == [])
        #expect(looks.see("a", at: 115) == [])
        #expect(looks.see("a", at: 131) == ["a"])
    }

    @Test("the time between boots does not count, that in each does")
    func boots() {
        var looks = Looks()
        #expect(looks.see("a", at: 100) == [])
        #expect(looks.see("a", at: 120) == [])
        looks.boot = "another"
        #expect(looks.see("a", at: 3) == [])
        #expect(looks.see("a", at: 13) == [])
        looks.boot = "third"
        // Later than any time before.
        #expect(looks.see("a", at: 9000) == [])
        #expect(looks.see("a", at: 9001) == ["a"])
    }

    @Test("with a clock that goes back in one boot, sights begin anew")
    func clockGoesBack() {
        var looks = Looks()
        #expect(looks.see("a", at: 100) == [])
        #expect(looks.see("a", at: 130) == [])
        #expect(looks.see("a", at: 129) == [])
        #expect(looks.see("a", at: 159) == [])
        #expect(looks.see("a", at: 160) == ["a"])
    }

    @Test("a lock that was away meanwhile, or has another identifier, is a new one")
    func away() {
        var looks = Looks()
        #expect(looks.see("a", "b", at: 0) == [])
        #expect(looks.see("b", at: 30) == [])
        #expect(looks.see("a", "c", at: 60) == [])
        #expect(looks.see("a", "c", "b", at: 90) == [])
        #expect(looks.see("a", "c", "b", at: 91) == ["a", "c"])
    }

    @Test("of too many locks some are never dead, and the file stays small")
    func many() {
        let locks = (0..<100_000).map { String($0, radix: 16) }
        var sights = LockSights()
        #expect(sights.see(locks, bootIdentifier: "boot", bootTime: 0) == [])
        let dead = sights.see(locks, bootIdentifier: "boot", bootTime: .max)
        #expect(dead.count == LockSights.limit)
        #expect(sights.contents.count <= LockSights.longestFile)
        #expect(LockSights(sights.contents) == sights)
    }

    @Test(
        "what is not a line of its own is ignored",
        arguments: [
            "", "\n\n", "a", "a boot", "a boot 0", "a boot 0 9999 1", "a boot 0 9999 ",
            " a boot 0 9999", "a  boot 0 9999", "a boot 0 +9999", "a boot 0 09999",
            "a boot 0 -9999", "a boot -9 9999", "a boot 0 99999999999999999999", "a 0 9999",
            "a\tboot 0 9999", "a boot 0 9999\r", "a boot 0 9999.0", "a boot 0 \u{FF19}999",
            #"{"lock":"a","boot":"boot","first":0,"last":0,"earlier":9999}"#,
        ])
    func malformed(line: String) {
        let good = "b boot 0 9999"
        for text in ["\(line)\n\(good)\n", "\(good)\n\(line)"] {
            var sights = LockSights(Array(text.utf8))
            let dead = sights.see(["a", "b"], bootIdentifier: "boot", bootTime: 0)
            #expect(dead == ["b"], "\(text)")
        }
    }

    @Test("an identifier that is not UTF-8 is ignored")
    func notUTF8() {
        let sights = LockSights([0xFF] + Array(" boot 0 9999\n".utf8))
        #expect(sights == LockSights())
    }

    @Test("of two lines about one lock the younger counts, and huge numbers do not overflow")
    func extremes() {
        let old = "a boot \(Int64.max) \(Int64.max)\n"
        var sights = LockSights(Array(old.utf8))
        #expect(sights.see(["a"], bootIdentifier: "boot", bootTime: .max) == ["a"])
        #expect(sights.see(["a"], bootIdentifier: "other", bootTime: 0) == ["a"])
        #expect(sights.see(["a"], bootIdentifier: "other", bootTime: .max) == ["a"])
        let young = "a boot 5 5\n"
        for text in [old + young, young + old] {
            var sights = LockSights(Array(text.utf8))
            #expect(sights.see(["a"], bootIdentifier: "boot", bootTime: 6) == [])
        }
    }
}
