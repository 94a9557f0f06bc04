import SystemCalls

/// Decides when a run measures free space, and what the result means.
struct PurgeProgress {
    /// What the measured growth means.
    enum Verdict: Hashable {
        case goOn
        /// As much is free as was wanted.
        case reached
        /// Something else, such as a snapshot, keeps the blocks of what is deleted.
        case futile
    }

    /// How many bytes the plan wants to free.
    let wanted: Int64
    /// How many predicted bytes must be deleted before the effect is judged.
    let futileBytes: Int64
    /// How many bytes the removed units were expected to free.
    private(set) var predicted: Int64 = 0
    private var nextMeasure: Int64

    init(wanted: Int64, futileBytes: Int64) {
        self.wanted = wanted
        self.futileBytes = futileBytes
        nextMeasure = min(wanted, futileBytes)
    }

    /// Whether to measure before anything else is deleted.
    var isDue: Bool { predicted >= nextMeasure }

    mutating func removed(_ bytes: Int64) { predicted.addSaturating(bytes) }

    /// Returns what a measured growth means, and schedules the next measurement.
    mutating func judge(_ measured: Int64) -> Verdict {
        if measured >= wanted { return .reached }
        if predicted >= futileBytes, measured < predicted / 2 { return .futile }
        // Small steps near the end would spend more time in `syncfs(2)` than in deleting.
        let step = max(wanted.subtractingSaturating(measured), wanted / 8, 1 << 20)
        nextMeasure = predicted.addingSaturating(min(step, max(futileBytes, 1)))
        return .goOn
    }
}
