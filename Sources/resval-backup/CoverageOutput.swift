import BackupEngines
import CommandSupport

/// Reports how a backup covers less than the one before, and what to do.
///
/// - Parameter snapshot: the snapshot that was made; nil when nothing was stored.
func report(_ coverage: CoverageReport, snapshot: String?) {
    for (snapshot, reason) in coverage.incomparable where reason.code != .noRecord {
        Messages.warn(
            about: [UInt8]?.none,
            "snapshot \(snapshot.shortIdentifier) cannot be compared: \(reason.description)")
    }
    for item in coverage.unprotected { Messages.warn(about: item.path, item.lossSentence) }
    for cause in coverage.exclusions { Messages.warn(about: cause.path, cause.sentence) }
    if !coverage.exclusions.isEmpty, let base = coverage.base {
        Messages.warn(
            about: [UInt8]?.none,
            Advice.completed(
                "snapshot \(base.shortIdentifier), which has it, is kept for 30 days (if it is not "
                    + "needed: resval-backup accept)"))
    }
    if let last = coverage.jumpedFrom, let clock = coverage.holds.first(where: { $0.part == nil }) {
        Messages.warn(
            about: [UInt8]?.none,
            Advice.completed(
                "by this machine's clock snapshot \(last.shortIdentifier) is more than 30 days older; all "
                    + "earlier ones are kept until \(clock.end.rfc3339ToTheSecond) (if the clock is "
                    + "right and they are not needed: resval-backup accept)"))
    }
    guard !coverage.causes.isEmpty else { return }
    for cause in coverage.causes { Messages.write(about: cause.path, cause.sentence) }
    guard let snapshot = snapshot?.prefix(8) else { return }
    Messages.write(
        about: [UInt8]?.none,
        Advice.completed(
            "snapshot \(snapshot) may cover less than it should; forget and prune wait "
                + "(if that is right: resval-backup accept \(snapshot))"))
}

extension JSONLine {
    /// Adds the field `holds`: which snapshots are kept for what was excluded since, or for the clock.
    mutating func add(holds: [Hold]) {
        add("holds", objects: holds) { hold, object in
            if let part = hold.part { object.add(path: part) }
            object.add("snapshot", hold.snapshot)
            object.add("until", hold.end)
        }
    }

    /// Adds the field `coverage`: how a backup covers less than the one before.
    mutating func add(causes: [CoverageCause]) {
        add("coverage", objects: causes) { cause, object in
            object.add("reason", cause.name)
            if let path = cause.path { object.add(path: path) }
            object.add("sentence", cause.sentence)
        }
    }
}
