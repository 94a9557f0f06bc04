import ResourceValues
import StoragePolicy
import SystemPackage
import Testing

private func foreign(_ excluding: Set<Marker>, including: Set<Marker> = []) -> ForeignMarks {
    ForeignMarks(excluding: excluding, including: including)
}

private let homeInTmp = locations(["HOME": "/tmp/h"])

private let rows =
    PolicyRow.rows(
        """
        1: an entry of an excluded directory inherits | d(excluded)/f \
        | excluded: inherited /d (marked)
        1: a child cannot include itself again | d(excluded)/f(included) \
        | excluded: inherited /d (marked)
        1: the topmost excluded directory is named | a(excluded)/b(excluded)/f \
        | excluded: inherited /a (marked)
        1: what is below an excluded location inherits from it | tmp/d/f(included) \
        | excluded: inherited /tmp (location)
        1: a malformed mark below an excluded directory is still reported \
        | d(excluded)/f(malformed exclusion) | excluded: inherited /d (marked); malformed
        2: true excludes a file | f(excluded) | excluded: marked
        2: true excludes a directory | d(excluded)/ | excluded: marked
        2: false includes | f(included) | included: marked-false
        2: malformed includes and is reported | f(malformed exclusion) \
        | included: malformed; malformed
        2: unreadable includes and is reported | f(unreadable exclusion) \
        | included: unreadable; unreadable
        2: false overrules a location on this item | tmp(included)/ | included: marked-false
        2: what lies below a location that false includes is included | tmp(included)/f \
        | included: unmarked
        2: malformed overrules a location on this item | tmp(malformed exclusion)/ \
        | included: malformed; malformed
        2: false overrules foreign marks, and the conflict is reported | f(included, apple) \
        | included: marked-false; conflict
        3: a foreign mark of the chosen set excludes | f(apple) | excluded: marker
        3: nodump does not count unless chosen | d(nodump)/ | included: unmarked
        3: two foreign marks that disagree exclude and are reported | d(apple, including xdg)/ \
        | excluded: marker; conflict
        3: a foreign mark that includes does not overrule a location | tmp(including xdg)/ \
        | excluded: location
        3: what lies below a foreign mark inherits it | d(apple)/f | excluded: inherited /d (marker)
        4: a temporary directory is excluded | tmp/ | excluded: location
        4: a caches directory is excluded | home/u/.cache/ | excluded: location
        4: a file in the place of a location is none | tmp | included: unmarked
        4: a mount point inside a location is not part of it | tmp/m(mount)/ | included: unmarked
        4: what lies below a mount point inside a location is included | tmp/m(mount)/f \
        | included: unmarked
        4: a location that is itself a mount point is excluded | tmp(mount)/ | excluded: location
        4: a mark inside a location goes on beyond a mount point | tmp/d(excluded)/m(mount)/f \
        | excluded: inherited /tmp/d (marked)
        4: a mount point does not end the exclusion by a mark | d(excluded)/m(mount)/ \
        | excluded: inherited /d (marked)
        5: otherwise included | home/f | included: unmarked
        hard links: a file with two is included and reported | f(excluded, 2 links) \
        | included: hard-linked; hard-linked
        hard links: a file with an unknown number is included and reported \
        | f(excluded, unknown links) | included: hard-linked; hard-linked
        hard links: a foreign mark does not exclude a file with two either | f(apple, 2 links) \
        | included: hard-linked; hard-linked
        hard links: a directory's link count does not matter | d(excluded, 5 links)/ \
        | excluded: marked
        hard links: below an excluded directory the rule does not hold \
        | d(excluded)/f(excluded, 2 links) | excluded: inherited /d (marked)
        """) + [
        PolicyRow(
            "2: without the native marker, its mark does not count", "f(excluded)",
            "included: unmarked", markers: [.apple]),
        PolicyRow(
            "3: a foreign mark outside the chosen set does not", "f(apple)",
            "included: unmarked", markers: [.native, .xdg]),
        PolicyRow(
            "4: without locations, none is excluded", "tmp/", "included: unmarked", locations: nil),
        PolicyRow(
            "4: a home inside a location is cut out of it", "tmp/h/f",
            "included: unmarked", locations: homeInTmp),
        PolicyRow(
            "4: the caches of a home inside a location are a location of their own",
            "tmp/h/.cache/", "excluded: location", locations: homeInTmp),
    ]

struct ExclusionTests {
    @Test("each rule about exclusion, in order", arguments: rows)
    func rule(row: PolicyRow) {
        row.check { decision in
            let exclusion = decision.exclusion
            #expect(
                !exclusion.sentence.isEmpty && exclusion.cause.isExcluded == decision.isExcluded)
            return (
                exclusion.cause.isExcluded ? "excluded" : "included", exclusion.name,
                exclusion.ancestor,
                exclusion.cause.name
            )
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
        let kept = decide([Step(name: "out", marks: .excluded(false), foreign: marks)], policy)
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
