import PurgePlanning
import StorageManagement
import Testing

@testable import resval_purge

private let mebibyte: Int64 = 1 << 20

@Suite("When a volume is purged")
struct VolumeWatchTests {
    /// A volume of 1000 MiB: low below 100, critical below 50.
    private func space(_ available: Int64) -> StorageSpace {
        StorageSpace(bytes: StorageAmount(total: 1000 * mebibyte, available: available * mebibyte))
    }

    private func watch() -> VolumeWatch { VolumeWatch(StorageThresholds()) }

    private func purges(_ action: VolumeWatch.Action) -> Bool {
        if case .purge = action { true } else { false }
    }

    @Test("the goal is twice low, what is needed is low, and critical takes what there is")
    func goals() {
        func goal(_ available: Int64) -> PurgeGoal {
            PurgeGoal(space(available), StorageThresholds())
        }
        #expect(goal(80).wanted.bytes == 120 * mebibyte)
        #expect(goal(80).needed.bytes == 20 * mebibyte)
        #expect(!goal(80).isPartial)
        #expect(goal(49).isPartial)
        #expect(goal(300).wanted == PurgeAmount())
        #expect(goal(80).needed.isReached(by: .init(bytes: 20 * mebibyte)))
        #expect(!goal(80).needed.isReached(by: .init(bytes: 20 * mebibyte - 1)))
    }

    @Test("inodes and quotas have goals of their own")
    func otherGoals() {
        var space = space(900)
        space.inodes = StorageAmount(total: 1000, available: 40)
        var goal = PurgeGoal(space, StorageThresholds())
        #expect(goal.wanted == PurgeAmount(inodes: 160))
        #expect(goal.needed == PurgeAmount(inodes: 60))
        #expect(goal.isPartial)
        #expect(!goal.needed.isReached(by: .init(bytes: .max, inodes: 59)))
        space.quotas = [.init(bytes: StorageAmount(total: 10_000, available: 900))]
        goal = PurgeGoal(space, StorageThresholds())
        #expect(goal.wanted == PurgeAmount(bytes: 1100, inodes: 160))
        #expect(goal.needed == PurgeAmount(bytes: 100, inodes: 60))
        let all = StorageSpace(bytes: StorageAmount(total: 10, available: 1))
        var thresholds = StorageThresholds()
        thresholds.lowBytes = .init(percent: 80, amount: .max)
        #expect(PurgeGoal(all, thresholds).wanted.bytes == 9)
    }

    @Test("it waits while there is enough, and purges below low")
    func beginning() {
        var watch = watch()
        #expect(watch.action(for: space(900), at: .zero) == .wait(.seconds(2)))
        #expect(watch.action(for: space(100), at: .zero) == .wait(.seconds(1)))
        let goal = PurgeGoal(space(99), StorageThresholds())
        #expect(watch.action(for: space(99), at: .zero) == .purge(goal))
        #expect(watch.pressure == .low)
    }

    @Test("between threshold and margin the pressure lasts, and nothing is purged")
    func margin() {
        var watch = watch()
        #expect(purges(watch.action(for: space(99), at: .zero)))
        #expect(!purges(watch.action(for: space(105), at: .zero)))
        #expect(watch.pressure == .low)
    }

    @Test("after a purge in vain it waits five minutes, then ten, and at most an hour")
    func backingOff() {
        var watch = watch()
        var now = Duration.zero
        for pause in [300, 600, 1200, 2400, 3600, 3600] {
            #expect(purges(watch.action(for: space(90), at: now)))
            watch.note(.fruitless, at: now)
            #expect(!purges(watch.action(for: space(90), at: now)))
            #expect(!purges(watch.action(for: space(60), at: now + .seconds(pause - 1))))
            now += .seconds(pause)
        }
    }

    @Test("what was in vain at low is tried once at critical, where a part is enough")
    func worse() {
        var watch = watch()
        #expect(purges(watch.action(for: space(90), at: .zero)))
        watch.note(.fruitless, at: .zero)
        #expect(!purges(watch.action(for: space(60), at: .seconds(1))))
        #expect(purges(watch.action(for: space(40), at: .seconds(2))))
        watch.note(.fruitless, at: .seconds(2))
        #expect(!purges(watch.action(for: space(30), at: .seconds(3))))
    }

    @Test("at critical it purges again each minute, but not where deleting was in vain")
    func whileCritical() {
        var watch = watch()
        for minute in 0..<5 {
            let now = Duration.seconds(60 * minute)
            #expect(purges(watch.action(for: space(40), at: now)))
            watch.note(.nothingDeleted, at: now)
            #expect(!purges(watch.action(for: space(40), at: now + .seconds(59))))
        }
        #expect(purges(watch.action(for: space(40), at: .seconds(300))))
        watch.note(.fruitless, at: .seconds(300))
        #expect(!purges(watch.action(for: space(40), at: .seconds(599))))
        #expect(purges(watch.action(for: space(40), at: .seconds(600))))
    }

    @Test("at low it waits as long where nothing was deleted as where deleting was in vain")
    func nothingAtLow() {
        var watch = watch()
        #expect(purges(watch.action(for: space(90), at: .zero)))
        watch.note(.nothingDeleted, at: .zero)
        #expect(!purges(watch.action(for: space(90), at: .seconds(299))))
        #expect(purges(watch.action(for: space(90), at: .seconds(300))))
        watch.note(.nothingDeleted, at: .seconds(300))
        #expect(!purges(watch.action(for: space(90), at: .seconds(899))))
    }

    @Test("when there was enough again, the next purge begins at once, and the pauses anew")
    func recovery() {
        var watch = watch()
        for start in [Duration.zero, .seconds(300)] {
            #expect(purges(watch.action(for: space(90), at: start)))
            watch.note(.fruitless, at: start)
        }
        #expect(!purges(watch.action(for: space(500), at: .seconds(301))))
        #expect(purges(watch.action(for: space(90), at: .seconds(302))))
        watch.note(.fruitless, at: .seconds(302))
        #expect(purges(watch.action(for: space(90), at: .seconds(602))))
    }

    @Test("what is deleted must show, but not while others may have taken it")
    func effect() {
        var effect = PurgeEffect()
        var outcome = PurgeOutcome()
        func verdicts(_ count: Int) -> [Bool] { (0..<count).map { _ in effect.hasHelped(outcome) } }
        #expect(verdicts(1) == [false])
        outcome.removedUnits = 1
        outcome.certainBytes = 100 * mebibyte
        outcome.freedBytes = 40 * mebibyte
        // The counting begins anew, with less that counts.
        #expect(verdicts(4) == [true, true, false, false])
        outcome.freedBytes = 90 * mebibyte
        #expect(verdicts(10) == Array(repeating: true, count: 10))
        outcome.isFutile = true
        #expect(verdicts(1) == [false])
    }

    @Test("a purge that helped is not followed at once by another")
    func success() {
        var watch = watch()
        #expect(purges(watch.action(for: space(90), at: .zero)))
        watch.note(.helpful, at: .zero)
        #expect(!purges(watch.action(for: space(95), at: .seconds(1))))
        #expect(purges(watch.action(for: space(95), at: .seconds(2))))
        watch.note(.helpful, at: .seconds(2))
        #expect(purges(watch.action(for: space(40), at: .seconds(3))))
    }
}
