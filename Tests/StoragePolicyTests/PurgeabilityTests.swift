import StoragePolicy
import SystemCalls
import SystemPackage
import Testing

private let rows = PolicyRow.rows(
    """
    a marked file may be deleted | f(purgeable) | purgeable: marked
    a marked directory may be deleted | d(purgeable)/ | purgeable: marked
    what lies in a marked directory is part of the unit | d(purgeable)/e/f | purgeable: inherited /d
    a marked directory in a marked one is part of the outer unit | d(purgeable)/e(purgeable)/ \
    | purgeable: inherited /d
    false protects | f(pinned) | protected: marked-false
    false protects inside a unit | d(purgeable)/f(pinned) | protected: marked-false
    false protects everything below | d(pinned)/e/f | protected: inherited /d
    false above beats true below | d(pinned)/f(purgeable) | protected: inherited /d
    false below false names the directory above | d(pinned)/f(pinned) | protected: inherited /d
    false inside a unit protects what lies below it | d(purgeable)/e(pinned)/f(purgeable) \
    | protected: inherited /d/e
    malformed protects and is reported | f(malformed purging) | protected: malformed; malformed
    malformed protects everything below | d(malformed purging)/f(purgeable) \
    | protected: inherited /d
    unreadable protects and is reported | f(unreadable purging) | protected: unreadable; unreadable
    unreadable protects everything below | d(unreadable purging)/f(purgeable) \
    | protected: inherited /d
    an unmarked item is neither purgeable nor protected | f | neither: unmarked
    exclusion does not make purgeable | f(excluded) | neither: unmarked
    """)

/// A way down, and whether the class that applies there keeps an item that is not marked purgeable.
private let classes: [(way: String, isKept: Bool)] = [
    ("f", false), ("f(none)", false), ("f(complete)", true), ("f(completeUnlessOpen)", true),
    ("f(completeWhenUserInactive)", true), ("f(completeUntilFirstUserAuthentication)", true),
    ("f(malformed class)", true), ("f(unreadable class)", true), ("d(complete)/e/f", true),
    ("d(malformed class)/f", true), ("d(complete)/f(none)", false), ("d(none)/f(complete)", true),
]

struct PurgeabilityTests {
    @Test("a protection class other than none keeps what no mark says may go")
    func protectionClass() {
        for (way, isKept) in classes {
            for protection in [decide(steps(way)).protection, walk(steps(way)).protection] {
                #expect(protection.cause.keepsItem(isMarkedPurgeable: false) == isKept)
                #expect(!protection.cause.keepsItem(isMarkedPurgeable: true))
            }
        }
    }

    @Test("each rule about purging", arguments: rows)
    func rule(row: PolicyRow) {
        row.check { decision in
            let purgeability = decision.purgeability
            #expect(!purgeability.sentence.isEmpty)
            let outcome =
                [
                    decision.isPurgeable ? "purgeable" : "",
                    purgeability.cause.isProtected ? "protected" : "",
                ]
                .filter { !$0.isEmpty }.joined(separator: " ")
            return (
                outcome.isEmpty ? "neither" : outcome, purgeability.name, purgeability.ancestor,
                purgeability.name
            )
        }
    }

    @Test("a mark that is objected to permits nothing, and is asked about once")
    func objection() {
        let asked = Monitor<[FilePath]>([])
        var policy = StoragePolicy()
        policy.objection = { path in
            asked.withLock { $0.append(path) }
            return path == "/home" ? .holdsProtected : path == "/home/d" ? .untrustedMark : nil
        }
        func purgeability(_ steps: [Step]) -> [Purgeability] {
            [decide(steps, policy).purgeability, walk(steps, policy).purgeability]
        }
        let home = Step.directory("home", .purgeable(true))
        let directory = Step.directory("d", .purgeable(true))
        for kept in purgeability([home]) {
            #expect(kept == Effective(.objection(.holdsProtected)))
            #expect(!kept.cause.isPurgeable)
            #expect(!kept.cause.isProtected)
        }
        #expect(purgeability([home, .file("f")]) == [.unmarked, .unmarked])
        #expect(
            purgeability([home, .file("f", .purgeable(true))])
                == [Effective(.marked), Effective(.marked)])
        for below in purgeability([home, directory, .file("f", .purgeable(true))]) {
            #expect(below == Effective(.objection(.untrustedMark), from: "/home/d"))
        }
        asked.withLock { $0 = [] }
        _ = purgeability([.directory("home"), .file("f", .purgeable(false)), .file("g")])
        #expect(asked.withLock { $0 } == [])
        policy = policy.prepared(forSource: "/home").prepared(forSources: ["/home"])
        #expect(policy.objection?("/home") == .holdsProtected)
    }
}
