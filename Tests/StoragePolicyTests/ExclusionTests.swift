import ResourceValues
import StoragePolicy
import SystemPackage
import Testing

/// One row: a way down and what is said about its end.
struct ExclusionRow: CustomTestStringConvertible {
    var rule: String
    var steps: [Step]
    var isExcluded: Bool
    var reason: String
    var ancestor: FilePath?
    var origin: String?
    var issues: [String] = []
    var markers = Marker.defaultSet
    var locations: StorageLocations? = StoragePolicyTests.locations()
    var testDescription: String { rule }
}

private func foreign(_ excluding: Set<Marker>, including: Set<Marker> = []) -> ForeignMarks {
    ForeignMarks(excluding: excluding, including: including)
}

private let tag = Step(name: "f", kind: .regularFile, foreign: foreign([.apple]))

private let rows: [ExclusionRow] = [
    ExclusionRow(
        rule: "1: an entry of an excluded directory inherits",
        steps: [.directory("d", .excluded(true)), .file("f")],
        isExcluded: true, reason: "inherited", ancestor: "/d", origin: "marked"),
    ExclusionRow(
        rule: "1: a child cannot include itself again",
        steps: [.directory("d", .excluded(true)), .file("f", .excluded(false))],
        isExcluded: true, reason: "inherited", ancestor: "/d", origin: "marked"),
    ExclusionRow(
        rule: "1: the topmost excluded directory is named",
        steps: [
            .directory("a", .excluded(true)), .directory("b", .excluded(true)), .file("f"),
        ],
        isExcluded: true, reason: "inherited", ancestor: "/a", origin: "marked"),
    ExclusionRow(
        rule: "1: what is below an excluded location inherits from it",
        steps: [.directory("tmp"), .directory("d"), .file("f", .excluded(false))],
        isExcluded: true, reason: "inherited", ancestor: "/tmp", origin: "location"),
    ExclusionRow(
        rule: "1: a malformed mark below an excluded directory is still reported",
        steps: [.directory("d", .excluded(true)), .file("f", .malformedExclusion)],
        isExcluded: true, reason: "inherited", ancestor: "/d", origin: "marked",
        issues: ["malformed"]),
    ExclusionRow(
        rule: "2: true excludes a file", steps: [.file("f", .excluded(true))],
        isExcluded: true, reason: "marked"),
    ExclusionRow(
        rule: "2: true excludes a directory", steps: [.directory("d", .excluded(true))],
        isExcluded: true, reason: "marked"),
    ExclusionRow(
        rule: "2: false includes", steps: [.file("f", .excluded(false))],
        isExcluded: false, reason: "marked-false"),
    ExclusionRow(
        rule: "2: malformed includes and is reported", steps: [.file("f", .malformedExclusion)],
        isExcluded: false, reason: "malformed", issues: ["malformed"]),
    ExclusionRow(
        rule: "2: unreadable includes and is reported", steps: [.file("f", .unreadableExclusion)],
        isExcluded: false, reason: "unreadable", issues: ["unreadable"]),
    ExclusionRow(
        rule: "2: false overrules a location on this item",
        steps: [.directory("tmp", .excluded(false))], isExcluded: false, reason: "marked-false"),
    ExclusionRow(
        rule: "2: what lies below a location that false includes is included",
        steps: [.directory("tmp", .excluded(false)), .file("f")],
        isExcluded: false, reason: "unmarked"),
    ExclusionRow(
        rule: "2: malformed overrules a location on this item",
        steps: [.directory("tmp", .malformedExclusion)],
        isExcluded: false, reason: "malformed", issues: ["malformed"]),
    ExclusionRow(
        rule: "2: false overrules foreign marks, and the conflict is reported",
        steps: [
            Step(name: "f", marks: .excluded(false), kind: .regularFile, foreign: foreign([.apple]))
        ],
        isExcluded: false, reason: "marked-false", issues: ["conflict"]),
    ExclusionRow(
        rule: "2: without the native marker, its mark does not count",
        steps: [.file("f", .excluded(true))], isExcluded: false, reason: "unmarked",
        markers: [.apple]),
    ExclusionRow(
        rule: "3: a foreign mark of the chosen set excludes", steps: [tag],
        isExcluded: true, reason: "marker"),
    ExclusionRow(
        rule: "3: a foreign mark outside the chosen set does not", steps: [tag],
        isExcluded: false, reason: "unmarked", markers: [.native, .xdg]),
    ExclusionRow(
        rule: "3: nodump does not count unless chosen",
        steps: [Step(name: "d", foreign: foreign([.nodump]))],
        isExcluded: false, reason: "unmarked"),
    ExclusionRow(
        rule: "3: two foreign marks that disagree exclude and are reported",
        steps: [Step(name: "d", foreign: foreign([.apple], including: [.xdg]))],
        isExcluded: true, reason: "marker", issues: ["conflict"]),
    ExclusionRow(
        rule: "3: a foreign mark that includes does not overrule a location",
        steps: [Step(name: "tmp", foreign: foreign([], including: [.xdg]))],
        isExcluded: true, reason: "location"),
    ExclusionRow(
        rule: "3: what lies below a foreign mark inherits it",
        steps: [Step(name: "d", foreign: foreign([.apple])), .file("f")],
        isExcluded: true, reason: "inherited", ancestor: "/d", origin: "marker"),
    ExclusionRow(
        rule: "4: a temporary directory is excluded", steps: [.directory("tmp")],
        isExcluded: true, reason: "location"),
    ExclusionRow(
        rule: "4: a caches directory is excluded",
        steps: [.directory("home"), .directory("u"), .directory(".cache")],
        isExcluded: true, reason: "location"),
    ExclusionRow(
        rule: "4: a file in the place of a location is none", steps: [.file("tmp")],
        isExcluded: false, reason: "unmarked"),
    ExclusionRow(
        rule: "4: without locations, none is excluded", steps: [.directory("tmp")],
        isExcluded: false, reason: "unmarked", locations: nil),
    ExclusionRow(
        rule: "4: a mount point inside a location is not part of it",
        steps: [.directory("tmp"), Step(name: "m", isMountRoot: true)],
        isExcluded: false, reason: "unmarked"),
    ExclusionRow(
        rule: "4: what lies below a mount point inside a location is included",
        steps: [.directory("tmp"), Step(name: "m", isMountRoot: true), .file("f")],
        isExcluded: false, reason: "unmarked"),
    ExclusionRow(
        rule: "4: a location that is itself a mount point is excluded",
        steps: [Step(name: "tmp", isMountRoot: true)], isExcluded: true, reason: "location"),
    ExclusionRow(
        rule: "4: a mark inside a location goes on beyond a mount point",
        steps: [
            .directory("tmp"), .directory("d", .excluded(true)),
            Step(name: "m", isMountRoot: true), .file("f"),
        ],
        isExcluded: true, reason: "inherited", ancestor: "/tmp/d", origin: "marked"),
    ExclusionRow(
        rule: "4: a mount point does not end the exclusion by a mark",
        steps: [.directory("d", .excluded(true)), Step(name: "m", isMountRoot: true)],
        isExcluded: true, reason: "inherited", ancestor: "/d", origin: "marked"),
    ExclusionRow(
        rule: "4: a home inside a location is cut out of it",
        steps: [.directory("tmp"), .directory("h"), .file("f")],
        isExcluded: false, reason: "unmarked",
        locations: locations(["HOME": "/tmp/h"])),
    ExclusionRow(
        rule: "4: the caches of a home inside a location are a location of their own",
        steps: [.directory("tmp"), .directory("h"), .directory(".cache")],
        isExcluded: true, reason: "location", locations: locations(["HOME": "/tmp/h"])),
    ExclusionRow(
        rule: "5: otherwise included", steps: [.directory("home"), .file("f")],
        isExcluded: false, reason: "unmarked"),
    ExclusionRow(
        rule: "hard links: a file with two is included and reported",
        steps: [.file("f", .excluded(true), linkCount: 2)],
        isExcluded: false, reason: "hard-linked", issues: ["hard-linked"]),
    ExclusionRow(
        rule: "hard links: a file with an unknown number is included and reported",
        steps: [.file("f", .excluded(true), linkCount: nil)],
        isExcluded: false, reason: "hard-linked", issues: ["hard-linked"]),
    ExclusionRow(
        rule: "hard links: a foreign mark does not exclude a file with two either",
        steps: [Step(name: "f", kind: .regularFile, foreign: foreign([.apple]), linkCount: 2)],
        isExcluded: false, reason: "hard-linked", issues: ["hard-linked"]),
    ExclusionRow(
        rule: "hard links: a directory's link count does not matter",
        steps: [Step(name: "d", marks: .excluded(true), linkCount: 5)],
        isExcluded: true, reason: "marked"),
    ExclusionRow(
        rule: "hard links: below an excluded directory the rule does not hold",
        steps: [.directory("d", .excluded(true)), .file("f", .excluded(true), linkCount: 2)],
        isExcluded: true, reason: "inherited", ancestor: "/d", origin: "marked"),
]

struct ExclusionTests {
    @Test("each rule about exclusion, in order", arguments: rows)
    func rule(row: ExclusionRow) {
        let policy = StoragePolicy(markers: row.markers, locations: row.locations)
        for decision in [decide(row.steps, policy), walk(row.steps, policy)] {
            #expect(decision.isExcluded == row.isExcluded)
            #expect(decision.exclusion.cause.isExcluded == row.isExcluded)
            #expect(decision.exclusion.name == row.reason)
            #expect(decision.exclusion.ancestor == row.ancestor)
            #expect(decision.exclusion.cause.name == row.origin ?? row.reason)
            #expect(decision.issues.map(\.name) == row.issues)
            #expect(!decision.exclusion.sentence.isEmpty)
        }
    }

    @Test("the first marker of the table is named when several fit")
    func namesFirstMarker() {
        let marks = foreign([.nobackup, .xdg, .apple])
        let decision = decide(
            [Step(name: "d", foreign: marks)], StoragePolicy(markers: Set(Marker.allCases)))
        #expect(decision.exclusion.ownCause == .marker(.apple))
    }

    @Test("a rule is named with its proof, and one that is not certain is only reported")
    func recreation() {
        let recreation = Recreation(proof: "out beside Makefile", tool: "make", reason: "a build")
        var marks = ForeignMarks(excluding: [.rules, .gitignore], recreation: recreation)
        let policy = StoragePolicy(markers: [.native, .rules, .gitignore])
        let decision = decide([Step(name: "out", foreign: marks)], policy)
        #expect(decision.exclusion.ownCause == .recreatable(recreation))
        #expect(decision.exclusion.sentence == "re-creatable: out beside Makefile")
        #expect(decision.exclusion.cause.marker == .rules)
        let below = decide([Step(name: "out", foreign: marks), .file("f")], policy)
        #expect(below.exclusion.cause == .recreatable(recreation))
        #expect(!decide([Step(name: "out", foreign: marks)]).isExcluded)
        let kept = decide(
            [Step(name: "out", marks: .excluded(false), foreign: marks)], policy)
        #expect(kept.exclusion.ownCause == .markedFalse)
        marks = ForeignMarks(uncertain: [.rules: "out beside Makefile, but it is not known"])
        let unknown = decide([Step(name: "out", foreign: marks)], policy)
        #expect(unknown.exclusion == .unmarked)
        #expect(
            unknown.issues == [
                .uncertainMarker(.rules, "out beside Makefile, but it is not known")
            ])
        #expect(!decide([Step(name: "out", foreign: marks)]).isExcluded)
    }

    @Test("a conflict names both sides")
    func namesConflict() {
        let step = Step(
            name: "d", marks: .excluded(true), foreign: foreign([.apple], including: [.xdg]))
        #expect(
            decide([step]).issues == [.conflict(excluding: [.native, .apple], including: [.xdg])])
    }
}
