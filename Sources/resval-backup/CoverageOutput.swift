import Backups
import CommandSupport
import SystemCalls
import TextFormats

/// What is held, as it is printed.
struct HeldPart: Sendable, Hashable {
    /// The path of what later snapshots lack; nil for all that was made before the clock jumped.
    var path: [UInt8]?
    /// Why, in one word: see ``Hold/Kind``.
    var kind = ""
    /// When it became so.
    var since = FileTime(seconds: 0, nanoseconds: 0)
    /// When it ends; nil where only `accept` ends it.
    var until: FileTime?
    /// The full identifier of the snapshot that has it; nil if it is not known.
    var snapshot: String?

    init() {}

    init(_ hold: Hold, in snapshot: Snapshot?) {
        path = hold.kind == .clock ? nil : hold.part
        kind = hold.kind.rawValue
        since = FileTime(seconds: hold.since, nanoseconds: 0)
        until = hold.end
        self.snapshot = snapshot?.identifier
    }

    /// The most that are listed, those that wait for `accept` first.
    static let most = 100

    /// Whether it waits for `accept`.
    var needsAcceptance: Bool { kind == Hold.Kind.other.rawValue }

    /// What is held, in words without the path.
    var sentence: String {
        let end = until.map { "until \($0.rfc3339ToTheSecond)" } ?? "until it is accepted"
        let since = since.rfc3339ToTheSecond
        guard path != nil else {
            return "all snapshots made before the clock jumped, \(since), are kept \(end)"
        }
        let name = snapshot.map { "snapshot \($0.prefix(8))" } ?? "the snapshot that has it"
        return "not in the newest snapshot since \(since); \(name) is kept for it \(end)"
    }
}

/// Reports how a backup covers less than the one before, and what to do.
func report(_ coverage: CoverageReport) {
    for (snapshot, reason) in coverage.incomparable where reason.code != .noRecord {
        Messages.warn(
            "snapshot \(snapshot.shortIdentifier) cannot be compared: \(reason.description)")
    }
    for item in coverage.unprotected { Messages.warn(about: item.path, item.lossSentence) }
    for cause in coverage.exclusions.prefix(HeldPart.most) {
        Messages.warn(about: cause.path, cause.sentence)
    }
    if coverage.exclusions.count > HeldPart.most {
        let more = counted(coverage.exclusions.count - HeldPart.most, "item")
        Messages.warn("and \(more) more newly excluded")
    }
    let named = Set(coverage.exclusions.compactMap(\.path))
    let keeping = Set(
        coverage.holds.filter { named.contains($0.hold.part) }
            .compactMap { $0.snapshot?.shortIdentifier }
    ).sorted()
    if !keeping.isEmpty {
        Messages.warn(
            Advice.completed(
                "snapshot \(keeping.joined(separator: ", ")), which has it, is kept for 30 days (if it is "
                    + "not needed: resval-backup accept)"))
    }
    if let last = coverage.jumpedFrom {
        Messages.warn(
            Advice.completed(
                "by this machine's clock snapshot \(last.shortIdentifier), made before, is newer, or more "
                    + "than 30 days older; all earlier ones are kept for 30 days (if the clock is right "
                    + "and they are not needed: resval-backup accept)"))
    }
    guard !coverage.causes.isEmpty else { return }
    for cause in coverage.causes { Messages.write(about: cause.path, cause.sentence) }
    Messages.write(
        about: [UInt8]?.none,
        Advice.completed(
            "this snapshot may cover less than it should; what only earlier ones have is kept "
                + "(if that is right: resval-backup accept)"))
}

extension JSONLine {
    /// Adds the field `holds`.
    mutating func add(holds: [HeldPart]) {
        add("holds", objects: holds) { hold, object in
            if let path = hold.path {
                object.add(path: path)
            } else {
                object.add("path", String?.none)
            }
            object.add("kind", hold.kind)
            object.add("since", hold.since)
            object.add("until", hold.until)
            object.add("snapshot", hold.snapshot)
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
