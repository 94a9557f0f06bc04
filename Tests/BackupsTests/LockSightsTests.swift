import Testing

@testable import Backups

@Suite("For how long locks were seen")
struct LockSightsTests {
    /// A look, each by what a file kept of those before: the boot, its minute, the locks that are there, and
    /// those that are dead by then.
    private typealias Look = (boot: String, minute: Int64, locks: [String], dead: Set<String>)

    private static let rows: [(rule: String, looks: [Look])] = [
        (
            "the time adds up over runs",
            [("1", 100, ["a"], []), ("1", 115, ["a"], []), ("1", 131, ["a"], ["a"])]
        ),
        (
            "the time between boots does not count, that in each does",
            [
                ("1", 100, ["a"], []), ("1", 120, ["a"], []), ("2", 3, ["a"], []),
                // Later than any time before.
                ("2", 13, ["a"], []), ("3", 9000, ["a"], []), ("3", 9001, ["a"], ["a"]),
            ]
        ),
        (
            "with a clock that goes back in one boot, sights begin anew",
            [
                ("1", 100, ["a"], []), ("1", 130, ["a"], []), ("1", 129, ["a"], []),
                ("1", 159, ["a"], []), ("1", 160, ["a"], ["a"]),
            ]
        ),
        (
            "a lock that was away meanwhile, or has another identifier, is a new one",
            [
                ("1", 0, ["a", "b"], []), ("1", 30, ["b"], []), ("1", 60, ["a", "c"], []),
                ("1", 90, ["a", "c", "b"], []), ("1", 91, ["a", "c", "b"], ["a", "c"]),
            ]
        ),
    ]

    @Test("a lock is dead when it was seen for 31 minutes of running machines", arguments: rows)
    private func looks(rule: String, looks: [Look]) {
        var file: [UInt8] = []
        for look in looks {
            var sights = LockSights(file)
            let dead = sights.see(look.locks, bootIdentifier: look.boot, bootTime: look.minute * 60)
            #expect(dead == look.dead, "\(rule), \(look)")
            file = sights.contents
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
