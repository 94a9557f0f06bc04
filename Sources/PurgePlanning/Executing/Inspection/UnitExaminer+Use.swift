import SystemCalls

extension UnitExaminer {
    /// Returns, for each of several units, `processInside` when a process is in it,
    /// `mountedElsewhere` when it is mounted elsewhere, and nil when nothing uses it.
    ///
    /// While any is in use, all are looked at again for a while: the last look decides.
    ///
    /// - Parameter units: the units, each with the path it has now.
    func reasonsToKeep(_ units: [(unit: Examination, path: [UInt8])]) -> [KeepReason?] {
        var reasons: [KeepReason?] = []
        do throws(KeepReason) {
            try patience.retry(while: { $0.mayPass }) { () throws(KeepReason) in
                reasons = processes.reasonsToKeep(units)
                let passing = reasons.lazy.compactMap { $0 }.first { $0.mayPass }
                if let passing { throw passing }
            }
        } catch {
            // It is among the reasons.
        }
        return reasons
    }

    /// As ``reasonsToKeep(_:)`` for a single unit that has its own name: throws the reason.
    func requireUnused(_ unit: Examination) throws(KeepReason) {
        if let reason = reasonsToKeep([(unit, unit.unit.path)])[0] { throw reason }
    }
}
