import SystemCalls

/// Says when a run measures, and what the measure means.
struct PurgeProgress {
    /// What the measured growth says.
    enum Verdict: Hashable {
        case goOn
        /// What was wanted is free.
        case reached
        /// Something else, such as a snapshot, holds what is deleted.
        case futile
    }

    /// What the plan wants, in bytes.
    let wanted: Int64
    /// After how much deleting has to show.
    let futileBytes: Int64
    /// What the removed units were expected to free.
    private(set) var predicted: Int64 = 0
    private var nextMeasure: Int64

    init(wanted: Int64, futileBytes: Int64) {
        self.wanted = wanted
        self.futileBytes = futileBytes
        nextMeasure = min(wanted, futileBytes)
    }

    /// Whether to measure before anything more is deleted.
    var isDue: Bool { predicted >= nextMeasure }

    mutating func removed(_ bytes: Int64) { predicted.addSaturating(bytes) }

    /// What a measured growth means.
    mutating func judge(_ measured: Int64) -> Verdict {
        if measured >= wanted { return .reached }
        if predicted >= futileBytes, measured < predicted / 2 { return .futile }
        // Little steps at the end would synchronize more than they delete.
        let step = max(wanted.subtractingSaturating(measured), wanted / 8, 1 << 20)
        nextMeasure = predicted.addingSaturating(min(step, max(futileBytes, 1)))
        return .goOn
    }
}
