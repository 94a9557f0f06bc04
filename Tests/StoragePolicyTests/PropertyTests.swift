import ResourceValues
import StoragePolicy
import SystemPackage
import Testing

/// The same sequence for the same seed, so that a failure can be repeated.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}

extension SeededGenerator {
    private mutating func mark(_ values: [StoredValue]) -> Mark {
        switch Int.random(in: 0..<10, using: &self) {
        case 0..<5: .unset
        case 5..<8: values.randomElement(using: &self).map { .value($0) } ?? .unset
        case 8: .malformed(prefix: [0], length: 1)
        default: .unreadable(.permissionDenied)
        }
    }

    fileprivate mutating func steps() -> [Step] {
        let names = ["tmp", "home", "u", ".cache", "d", "var"]
        var steps = (0..<Int.random(in: 1...6, using: &self)).map { _ in
            Step(
                name: names.randomElement(using: &self) ?? "d",
                marks: Marks([
                    .isExcludedFromBackup: mark([true, false]), .isPurgeable: mark([true, false]),
                    .fileProtection: mark(FileProtection.allCases.map { .protection($0) }),
                ]),
                foreign: ForeignMarks(excluding: Bool.random(using: &self) ? [] : [.apple]),
                isMountRoot: Int.random(in: 0..<8, using: &self) == 0)
        }
        if Bool.random(using: &self) {
            steps[steps.count - 1].kind = .regularFile
            steps[steps.count - 1].linkCount = [1, 2, nil].randomElement(using: &self) ?? nil
        }
        return steps
    }
}

/// One way down, with the decision on each step.
private struct Case {
    let steps: [Step]
    let decisions: [Decision]

    var pairs: [(step: Step, decision: Decision)] { Array(zip(steps, decisions)) }
}

private let policy = StoragePolicy(locations: locations(mountPoints: ["/tmp/d"]))

private let cases: [Case] = {
    var generator = SeededGenerator(state: 42)
    return (0..<1_000).map { _ in
        let steps = generator.steps()
        return Case(
            steps: steps, decisions: steps.indices.map { decide(Array(steps[...$0]), policy) })
    }
}()

struct PropertyTests {
    /// The first case for which something does not hold; nil when it always holds.
    private func counterexample(_ holds: (Case) -> Bool) -> [Step]? {
        cases.first { !holds($0) }?.steps
    }

    @Test("the cases hold what the properties are about")
    func casesAreVaried() {
        let decisions = cases.flatMap(\.decisions)
        #expect(
            Set(decisions.map(\.exclusion.name)) == [
                "unmarked", "marked-false", "malformed", "unreadable", "hard-linked", "marked",
                "marker", "location", "inherited",
            ])
        #expect(Set(decisions.map(\.purgeability.name)).count == 6)
        #expect(Set(decisions.map(\.protection.name)).count == 5)
    }

    @Test("a child of an excluded directory is never included, but where a location ends")
    func exclusionIsInherited() {
        let found = counterexample {
            zip($0.decisions, $0.decisions.dropFirst()).allSatisfy {
                $0.isExcluded && !$1.isExcluded ? $0.exclusion.cause.name == "location" : true
            }
        }
        #expect(found == nil)
    }

    @Test("a malformed or unreadable exclusion never excludes its item")
    func brokenExclusionFailsSafe() {
        let found = counterexample {
            $0.pairs.allSatisfy { step, decision in
                guard step.marks[.isExcludedFromBackup].isBroken, decision.isExcluded else {
                    return true
                }
                return decision.exclusion.name == "inherited"
            }
        }
        #expect(found == nil)
    }

    @Test("a malformed or unreadable purgeability protects, and such a class acts as complete")
    func brokenMarksFailSafe() {
        let found = counterexample {
            $0.pairs.allSatisfy { step, decision in
                let isPurged =
                    step.marks[.isPurgeable].isBroken && !decision.purgeability.cause.isProtected
                let isPlain =
                    step.marks[.fileProtection].isBroken && decision.protectionClass != .complete
                return !isPurged && !isPlain
                    && !(decision.isPurgeable && step.marks[.isPurgeable].isBroken)
            }
        }
        #expect(found == nil)
    }

    @Test("every broken mark is reported with its item, once")
    func brokenMarksAreReported() {
        let found = counterexample {
            $0.pairs.allSatisfy { step, decision in
                let broken = [
                    step.marks[.isExcludedFromBackup].isBroken, step.marks[.isPurgeable].isBroken,
                    step.marks[.fileProtection].isBroken,
                ]
                let reported = decision.issues.filter {
                    ["malformed", "unreadable"].contains($0.name)
                }
                return reported.count == broken.filter { $0 }.count
            }
        }
        #expect(found == nil)
    }

    @Test("nothing below a protected directory is purgeable")
    func protectionFromPurgingIsInherited() {
        let found = counterexample {
            let below = $0.decisions.drop { !$0.purgeability.cause.isProtected }
            return below.allSatisfy { !$0.isPurgeable && $0.purgeability.cause.isProtected }
        }
        #expect(found == nil)
    }

    @Test("a regular file with several hard links is excluded by inheritance only")
    func hardLinkedFiles() {
        let found = counterexample {
            $0.pairs.allSatisfy { step, decision in
                guard step.kind == .regularFile, step.linkCount != 1 else { return true }
                return !decision.isExcluded || decision.exclusion.name == "inherited"
            }
        }
        #expect(found == nil)
    }

    @Test("a walk and a plain question answer alike")
    func walkAgreesWithQuestion() {
        let found = counterexample {
            guard let asked = $0.decisions.last else { return false }
            let walked = walk($0.steps, policy)
            return walked.exclusion == asked.exclusion
                && walked.purgeability == asked.purgeability
                && walked.protection == asked.protection && walked.issues == asked.issues
        }
        #expect(found == nil)
    }
}

struct LazinessTests {
    private let policy = StoragePolicy(locations: locations())

    private func unasked<Value>(_ value: Value, _ what: String) -> Value {
        Issue.record("asked for the \(what)")
        return value
    }

    @Test("an unmarked item off every location is asked for nothing")
    func unmarkedItem() {
        let decision = policy.decide(
            .none, kind: .regularFile, in: decide([.directory("srv")], policy).contextForEntries,
            name: unasked([], "name"), path: unasked("/", "path"), linkCount: unasked(1, "count"),
            isMountRoot: unasked(false, "mount"))
        #expect(decision.isUnmarked)
    }

    @Test("an unmarked file below an excluded directory is asked for nothing")
    func unmarkedItemBelowMark() {
        let context = decide([.directory("d", .excluded(true))], policy).contextForEntries
        let decision = policy.decide(
            .none, kind: .regularFile, in: context, name: unasked([], "name"),
            path: unasked("/", "path"), linkCount: unasked(1, "count"),
            isMountRoot: unasked(false, "mount"))
        #expect(decision.isExcluded)
    }

    @Test("a marked file off every location is asked for its link count only")
    func markedFile() {
        let decision = policy.decide(
            .excluded(true), kind: .regularFile,
            in: decide([.directory("srv")], policy).contextForEntries, name: unasked([], "name"),
            path: unasked("/", "path"), linkCount: 1, isMountRoot: unasked(false, "mount"))
        #expect(decision.exclusion.ownCause == .marked)
    }
}
