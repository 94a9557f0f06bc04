import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import Testing

struct PurgeabilityRow: CustomTestStringConvertible {
    var rule: String
    var steps: [Step]
    var isPurgeable: Bool
    var isProtected: Bool
    var reason: String
    var ancestor: FilePath?
    var issues: [String] = []
    var testDescription: String { rule }
}

private let rows: [PurgeabilityRow] = [
    PurgeabilityRow(
        rule: "a marked file may be deleted", steps: [.file("f", .purgeable(true))],
        isPurgeable: true, isProtected: false, reason: "marked"),
    PurgeabilityRow(
        rule: "a marked directory may be deleted", steps: [.directory("d", .purgeable(true))],
        isPurgeable: true, isProtected: false, reason: "marked"),
    PurgeabilityRow(
        rule: "what lies in a marked directory is part of the unit",
        steps: [.directory("d", .purgeable(true)), .directory("e"), .file("f")],
        isPurgeable: true, isProtected: false, reason: "inherited", ancestor: "/d"),
    PurgeabilityRow(
        rule: "a marked directory in a marked one is part of the outer unit",
        steps: [.directory("d", .purgeable(true)), .directory("e", .purgeable(true))],
        isPurgeable: true, isProtected: false, reason: "inherited", ancestor: "/d"),
    PurgeabilityRow(
        rule: "false protects", steps: [.file("f", .purgeable(false))],
        isPurgeable: false, isProtected: true, reason: "marked-false"),
    PurgeabilityRow(
        rule: "false protects inside a unit",
        steps: [.directory("d", .purgeable(true)), .file("f", .purgeable(false))],
        isPurgeable: false, isProtected: true, reason: "marked-false"),
    PurgeabilityRow(
        rule: "false protects everything below",
        steps: [.directory("d", .purgeable(false)), .directory("e"), .file("f")],
        isPurgeable: false, isProtected: true, reason: "inherited", ancestor: "/d"),
    PurgeabilityRow(
        rule: "false above beats true below",
        steps: [.directory("d", .purgeable(false)), .file("f", .purgeable(true))],
        isPurgeable: false, isProtected: true, reason: "inherited", ancestor: "/d"),
    PurgeabilityRow(
        rule: "false below false names the directory above",
        steps: [.directory("d", .purgeable(false)), .file("f", .purgeable(false))],
        isPurgeable: false, isProtected: true, reason: "inherited", ancestor: "/d"),
    PurgeabilityRow(
        rule: "false inside a unit protects what lies below it",
        steps: [
            .directory("d", .purgeable(true)), .directory("e", .purgeable(false)),
            .file("f", .purgeable(true)),
        ],
        isPurgeable: false, isProtected: true, reason: "inherited", ancestor: "/d/e"),
    PurgeabilityRow(
        rule: "malformed protects and is reported", steps: [.file("f", .malformedPurgeable)],
        isPurgeable: false, isProtected: true, reason: "malformed", issues: ["malformed"]),
    PurgeabilityRow(
        rule: "malformed protects everything below",
        steps: [.directory("d", .malformedPurgeable), .file("f", .purgeable(true))],
        isPurgeable: false, isProtected: true, reason: "inherited", ancestor: "/d"),
    PurgeabilityRow(
        rule: "unreadable protects and is reported", steps: [.file("f", .unreadablePurgeable)],
        isPurgeable: false, isProtected: true, reason: "unreadable", issues: ["unreadable"]),
    PurgeabilityRow(
        rule: "unreadable protects everything below",
        steps: [.directory("d", .unreadablePurgeable), .file("f", .purgeable(true))],
        isPurgeable: false, isProtected: true, reason: "inherited", ancestor: "/d"),
    PurgeabilityRow(
        rule: "an unmarked item is not purgeable and not protected", steps: [.file("f")],
        isPurgeable: false, isProtected: false, reason: "unmarked"),
    PurgeabilityRow(
        rule: "exclusion does not make purgeable", steps: [.file("f", .excluded(true))],
        isPurgeable: false, isProtected: false, reason: "unmarked"),
]

/// A way down, and whether the class that applies there keeps an item that is not marked purgeable.
private let classes: [(steps: [Step], isKept: Bool)] = [
    ([.file("f")], false),
    ([.file("f", .protection(.none))], false),
    ([.file("f", .protection(.complete))], true),
    ([.file("f", .protection(.completeUnlessOpen))], true),
    ([.file("f", .protection(.completeWhenUserInactive))], true),
    ([.file("f", .protection(.completeUntilFirstUserAuthentication))], true),
    ([.file("f", .malformedProtection)], true),
    ([.file("f", .unreadableProtection)], true),
    ([.directory("d", .protection(.complete)), .directory("e"), .file("f")], true),
    ([.directory("d", .malformedProtection), .file("f")], true),
    ([.directory("d", .protection(.complete)), .file("f", .protection(.none))], false),
    ([.directory("d", .protection(.none)), .file("f", .protection(.complete))], true),
]

struct PurgeabilityTests {
    @Test("a protection class other than none keeps what no mark says may go")
    func protectionClass() {
        for (steps, isKept) in classes {
            for protection in [decide(steps).protection, walk(steps).protection] {
                #expect(protection.cause.keepsItem(isMarkedPurgeable: false) == isKept)
                #expect(!protection.cause.keepsItem(isMarkedPurgeable: true))
            }
        }
    }

    @Test("each rule about purging", arguments: rows)
    func rule(row: PurgeabilityRow) {
        for decision in [decide(row.steps), walk(row.steps)] {
            #expect(decision.isPurgeable == row.isPurgeable)
            #expect(decision.purgeability.cause.isProtected == row.isProtected)
            #expect(decision.purgeability.name == row.reason)
            #expect(decision.purgeability.ancestor == row.ancestor)
            #expect(decision.issues.map(\.name) == row.issues)
            #expect(!decision.purgeability.sentence.isEmpty)
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
