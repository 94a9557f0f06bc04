import PurgePlanning
import SystemCalls

/// The combined effect of the purges of a volume since it last had enough space.
///
/// A single purge shows little: other programs may write as fast as it deletes.
struct PurgeEffect {
    /// How many predicted bytes must be deleted before the effect is judged.
    var futileBytes: Int64 = 256 << 20
    private var predicted: Int64 = 0
    private var measured: Int64 = 0

    /// Adds the outcome of a purge.
    ///
    /// - Returns: whether purging further makes sense.
    mutating func hasHelped(_ outcome: PurgeOutcome) -> Bool {
        predicted.addSaturating(outcome.predictedBytes)
        measured.addSaturating(outcome.measuredBytes ?? 0)
        let isFutile = predicted >= futileBytes && measured < predicted / 2
        // Less is deleted before the next judgement.
        if isFutile { self = PurgeEffect(futileBytes: futileBytes / 4) }
        return outcome.removedUnits > 0 && !outcome.isFutile && !isFutile
    }
}
