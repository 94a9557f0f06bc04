import PurgePlanning
import SystemCalls

/// What the purges of a volume have come to since it last had enough space.
///
/// One purge tells little of whether deleting helps: somebody may store something as fast as it deletes.
struct PurgeEffect {
    /// How much has to be deleted, in bytes, before it counts that little of it is free.
    var futileBytes: Int64 = 256 << 20
    private var predicted: Int64 = 0
    private var measured: Int64 = 0

    /// Takes a purge into account.
    ///
    /// - Returns: whether it makes sense to go on.
    mutating func hasHelped(_ outcome: PurgeOutcome) -> Bool {
        predicted.addSaturating(outcome.predictedBytes)
        measured.addSaturating(outcome.measuredBytes ?? 0)
        let isFutile = predicted >= futileBytes && measured < predicted / 2
        // The next time less is deleted in vain.
        if isFutile { self = PurgeEffect(futileBytes: futileBytes / 4) }
        return outcome.removedUnits > 0 && !outcome.isFutile && !isFutile
    }
}
