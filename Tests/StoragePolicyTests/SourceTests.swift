import ResourceValues
import StoragePolicy
import SystemPackage
import Testing

struct SourceTests {
    private let policy = StoragePolicy(locations: locations(["TMPDIR": "/tmp/u"]))

    /// The decision on the last step as a SOURCE.
    private func decideOnSource(_ steps: [Step]) -> PathDecision {
        let items = chain(steps)
        return policy.prepared(forSource: items[items.count - 1].path).decide(items)
    }

    @Test("a SOURCE that is a location is not excluded, nor is what lies in it")
    func sourceIsLocation() {
        let source = decideOnSource([.directory("tmp")]).decision
        #expect(!source.isExcluded)
        let entry = policy.decide(
            .none, kind: .regularFile, in: source.contextForEntries, name: Array("f".utf8),
            path: "/tmp/f", linkCount: 1, isMountRoot: false)
        #expect(!entry.isExcluded)
    }

    @Test("a SOURCE inside a location is not excluded")
    func sourceInLocation() {
        let steps: [Step] = [.directory("tmp"), .directory("work")]
        #expect(!decideOnSource(steps).decision.isExcluded)
        #expect(!decide(steps + [.file("f")], policy, source: "/tmp/work").isExcluded)
    }

    @Test("a location strictly below a SOURCE that is itself a location counts")
    func locationBelowSource() {
        let decision = decide([.directory("tmp"), .directory("u")], policy, source: "/tmp")
        #expect(decision.exclusion.name == "location")
    }

    @Test("a location beside the SOURCE does not count")
    func locationBesideSource() {
        #expect(!decide([.directory("tmp")], policy, source: "/home/u").isExcluded)
    }

    @Test("a SOURCE that its own mark excludes is said to be")
    func markedSource() {
        let decision = decideOnSource([.directory("d", .excluded(true))]).decision
        #expect(decision.exclusion.ownCause == .marked)
    }

    @Test("a SOURCE below a marked directory is said to be excluded, naming it")
    func sourceBelowMark() {
        let steps: [Step] = [.directory("d", .excluded(true)), .directory("s")]
        let decision = decideOnSource(steps).decision
        #expect(decision.exclusion == Effective(.marked, from: "/d"))
    }

    @Test(
        "a stranger's unreadable mark above the SOURCE counts as unmarked, and keeps from purging")
    func strangersUnreadableMarks() {
        let marks = Marks([
            .isExcludedFromBackup: .unreadable(.permissionDenied),
            .isPurgeable: .unreadable(.permissionDenied),
            .fileProtection: .unreadable(.permissionDenied),
        ])
        let steps: [Step] = [Step(name: "home", marks: marks, isStrangers: true), .directory("u")]
        let answer = decideOnSource(steps)
        #expect(answer.decision.exclusion == .unmarked)
        #expect(answer.decision.protection == .unmarked)
        #expect(answer.decision.purgeability.cause.isProtected)
        #expect(answer.decision.purgeability.ancestor == "/home")
        #expect(answer.ancestorIssues.map(\.path) == ["/home", "/home", "/home"])
        #expect(
            answer.ancestorIssues.map(\.issue.name)
                == Array(repeating: "unreadable-ancestor", count: 3))
    }

    @Test("an unreadable class above the SOURCE acts as complete when the directory is one's own")
    func ownUnreadableMark() {
        let steps: [Step] = [.directory("d", .unreadableProtection), .directory("s")]
        let answer = decideOnSource(steps)
        #expect(answer.decision.protectionClass == .complete)
        #expect(answer.ancestorIssues.map(\.issue.name) == ["unreadable"])
    }

    @Test("a stranger's malformed mark above the SOURCE stays malformed")
    func strangersMalformedMark() {
        let steps: [Step] = [
            Step(name: "d", marks: .malformedProtection, isStrangers: true), .directory("s"),
        ]
        let answer = decideOnSource(steps)
        #expect(answer.decision.protectionClass == .complete)
        #expect(answer.ancestorIssues.map(\.issue.name) == ["malformed"])
    }

    @Test("the SOURCE's own unreadable mark counts as it does on any item")
    func unreadableSource() {
        let step = Step(name: "s", marks: .unreadableProtection, isStrangers: true)
        let answer = decideOnSource([step])
        #expect(answer.decision.protectionClass == .complete)
        #expect(answer.ancestorIssues.isEmpty)
    }

    @Test("an excluded location leads on to the home cut out of it, and only there")
    func leadsToCutOut() {
        let policy = StoragePolicy(locations: locations(["HOME": "/tmp/a/h"]))
        let tmp: [Step] = [.directory("tmp")]
        #expect(decide(tmp, policy).isExcluded)
        #expect(decide(tmp, policy).mayHoldIncludedItems)
        #expect(decide(tmp + [.directory("a")], policy).isExcluded)
        #expect(decide(tmp + [.directory("a")], policy).mayHoldIncludedItems)
        #expect(!decide(tmp + [.directory("b")], policy).mayHoldIncludedItems)
        #expect(!decide(tmp + [.directory("a"), .directory("h")], policy).isExcluded)
        #expect(!decide([.directory("var"), .directory("tmp")], policy).mayHoldIncludedItems)
    }

    @Test("an excluded location leads on to the mount points in it")
    func leadsToMountPoint() {
        let policy = StoragePolicy(locations: locations(mountPoints: ["/", "/tmp", "/tmp/m"]))
        #expect(decide([.directory("tmp")], policy).isExcluded)
        #expect(decide([.directory("tmp")], policy).mayHoldIncludedItems)
        #expect(!decide([.directory("tmp"), .directory("m")], policy).isExcluded)
    }
}
