import StorageManagement
import Testing

private let mebibyte: Int64 = 1 << 20
private let gibibyte: Int64 = 1 << 30

/// A volume without inodes to count.
private func space(_ available: Int64, of total: Int64) -> StorageSpace {
    StorageSpace(bytes: StorageAmount(total: total, available: available))
}

@Suite("Storage pressure")
struct PressureTests {
    private let thresholds = StorageThresholds()

    @Test(
        "low begins below 10 % or 5 GiB, critical below 5 % or 500 MiB, whichever is less",
        arguments: [
            (100 * mebibyte, 10 * mebibyte, 5 * mebibyte),
            (gibibyte, gibibyte / 10, gibibyte / 20),
            (10 * gibibyte, gibibyte, 500 * mebibyte),
            (50 * gibibyte, 5 * gibibyte, 500 * mebibyte),
            (1 << 43, 5 * gibibyte, 500 * mebibyte),
        ])
    func limits(total: Int64, low: Int64, critical: Int64) {
        #expect(thresholds.pressure(of: space(total, of: total)) == .normal)
        #expect(thresholds.pressure(of: space(low, of: total)) == .normal)
        #expect(thresholds.pressure(of: space(low - 1, of: total)) == .low)
        #expect(thresholds.pressure(of: space(critical, of: total)) == .low)
        #expect(thresholds.pressure(of: space(critical - 1, of: total)) == .critical)
        #expect(thresholds.pressure(of: space(0, of: total)) == .critical)
    }

    @Test("inodes and quotas are pressures of their own, and the worst one counts")
    func kinds() {
        var space = space(gibibyte, of: gibibyte)
        #expect(thresholds.pressure(of: space) == .normal)
        space.inodes = StorageAmount(total: 1000, available: 99)
        #expect(thresholds.pressure(of: space) == .low)
        space.quotas = [.init(bytes: StorageAmount(total: 1000, available: 49))]
        #expect(thresholds.pressure(of: space) == .critical)
        space.quotas = [.init(inodes: StorageAmount(total: 1000, available: 0))]
        #expect(thresholds.pressure(of: space) == .critical)
        space.inodes = nil
        space.quotas = []
        space.bytes = nil
        #expect(thresholds.pressure(of: space) == .normal)
    }

    @Test("a large volume's inodes run short by number, not by share")
    func manyInodes() {
        var space = StorageSpace(inodes: StorageAmount(total: 1 << 32, available: 327_680))
        #expect(thresholds.pressure(of: space) == .normal)
        space.inodes = StorageAmount(total: 1 << 32, available: 327_679)
        #expect(thresholds.pressure(of: space) == .low)
        space.inodes = StorageAmount(total: 1 << 32, available: 31_999)
        #expect(thresholds.pressure(of: space) == .critical)
    }

    @Test("pressure rises at once, and falls only when the threshold is left behind by the margin")
    func hysteresis() {
        let total = 1000 * mebibyte
        var tracker = PressureTracker()
        func pressure(at available: Int64) -> StoragePressure {
            tracker.update(with: space(available * mebibyte, of: total))
        }
        #expect(tracker.pressure == nil)
        #expect(pressure(at: 105) == .normal)
        #expect(pressure(at: 99) == .low)
        #expect(pressure(at: 105) == .low)
        #expect(pressure(at: 109) == .low)
        #expect(pressure(at: 110) == .normal)
        #expect(pressure(at: 105) == .normal)
        #expect(pressure(at: 49) == .critical)
        #expect(pressure(at: 54) == .critical)
        #expect(pressure(at: 55) == .low)
        #expect(pressure(at: 105) == .low)
        #expect(pressure(at: 10) == .critical)
        #expect(pressure(at: 105) == .low)
        #expect(pressure(at: 500) == .normal)
    }

    @Test("a threshold near the whole volume can be left behind")
    func highThreshold() {
        var thresholds = StorageThresholds()
        thresholds.lowBytes = .init(percent: 95, amount: .max)
        var tracker = PressureTracker(thresholds)
        #expect(tracker.update(with: space(10, of: 1000)) == .critical)
        #expect(tracker.update(with: space(960, of: 1000)) == .low)
        #expect(tracker.update(with: space(1000, of: 1000)) == .normal)
    }

    @Test("amounts out of range are cut to it, and numbers of any size are reckoned with")
    func extremes() {
        #expect(StorageAmount(total: -1, available: 5) == StorageAmount(total: 0, available: 0))
        #expect(StorageAmount(total: 5, available: 9).available == 5)
        #expect(thresholds.pressure(of: space(.max, of: .max)) == .normal)
        #expect(StorageThresholds.Limit(percent: 100, amount: .max).value(of: .max) == .max)
        #expect(StorageThresholds.Limit(percent: 10, amount: .max).value(of: 1009) == 100)
    }

    @Test("the wait shrinks with space, within its bounds, and never grows")
    func intervals() {
        let interval = PollingInterval()
        let total = 1000 * gibibyte
        func wait(_ available: Int64) -> Duration {
            interval.interval(for: space(available, of: total))
        }
        #expect(wait(total) == .seconds(60))
        // 4 GiB above the threshold: a writer of 200 MiB/s needs 20.48 s.
        #expect(wait(9 * gibibyte) == .seconds(10.24))
        #expect(wait(5 * gibibyte) == .seconds(1))
        #expect(wait(0) == .seconds(1))
        let waits = stride(from: total, through: 0, by: -Int64.Stride(gibibyte / 8)).map(wait)
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 >= $1 })
        #expect(interval.interval(for: StorageSpace()) == .seconds(60))
        var short = space(total, of: total)
        short.inodes = StorageAmount(total: 1_000_000, available: 200_000)
        #expect(interval.interval(for: short) == .seconds(5))
        short.quotas = [.init(bytes: StorageAmount(total: 100, available: 1))]
        #expect(interval.interval(for: short) == .seconds(1))
    }
}
