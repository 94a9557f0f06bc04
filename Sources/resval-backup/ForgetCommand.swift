import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import SystemCalls
import SystemPackage
import TextFormats

/// `resval-backup forget`.
struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Remove snapshots that no rule keeps.",
        discussion: """
            restic's rules decide, among the snapshots that resval-backup made here for one \
            configuration, or of the same SOURCEs. Besides what they keep, these stay: the one made \
            last; those that the rules would keep if there were only snapshots that were compared \
            with the disk; and those that are held, because they alone have something. While one is \
            dated wrong, or it is not known how the one made last was made, nothing is removed \
            (resval-backup accept ends that).

            With --dry-run, too, what was found out about snapshots is written to their tags.

            EXAMPLES
              resval-backup forget --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --prune
              resval-backup forget ~/Documents --keep-last 3 --dry-run
              resval-backup forget --all --keep-within 1y
            """)

    @Argument(
        help: ArgumentHelp(
            "The SOURCEs of the snapshots, as create backed them up. Without them, what the "
                + "configuration backs up, or the only set there is.",
            valueName: "source"))
    var sources: [PathArgument] = []

    @Flag(help: "Apply the rules to each set of SOURCEs by itself.")
    var all = false

    @OptionGroup(title: "Rules") var retention: RetentionOptions
    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    @Flag(help: "Remove the data that no snapshot needs, too.")
    var prune = false

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Only show what would happen.")
    var isDryRun = false

    @Flag(help: "Print one JSON object per snapshot: see resval-json(5).")
    var json = false

    func validate() throws {
        guard try !retention.rules().isEmpty else {
            throw ValidationError(
                "without a rule everything would be removed: give at least one --keep- option")
        }
        guard !all || sources.isEmpty else {
            throw ValidationError("give SOURCEs or --all, not both")
        }
    }

    func run() async throws {
        let rules = try retention.rules()
        let scope: ForgetScope =
            all
            ? .everySet
            : sources.isEmpty
                ? .onlySet(preferring: repository.configurationName)
                : .configuration(try sourcesFingerprint(sources.map(\.path)))
        try repository.reportDefault()
        let display = progress.begin("reading the repository")
        defer { display.end() }
        let decisions = try await running { [repository, isDryRun, prune] in
            let engine = try repository.engine(showing: display)
            let decisions = try await forgetSnapshots(
                by: rules, scope, isDryRun: isDryRun, in: engine)
            if prune, !isDryRun { try await engine.prune() }
            return decisions
        }
        guard json else { return decisions.writeText(isDryRun: isDryRun) }
        var buffer = OutputBuffer()
        for decision in decisions { write(json: decision, to: &buffer) }
        buffer.flush()
    }

    private func write(json decision: ForgetDecision, to buffer: inout OutputBuffer) {
        let snapshot = decision.snapshot
        var line = JSONLine.output()
        line.add("snapshot", snapshot.identifier)
        line.add("time", snapshot.time)
        line.add("isKept", decision.isKept)
        line.add("reasons", strings: decision.reasons)
        line.add("sources", objects: snapshot.sources) { source, object in
            object.add(path: source.bytes)
        }
        line.end(in: &buffer)
    }
}

/// Returns the name of what `create` backs up: its SOURCEs, which may have been deleted since.
func sourcesFingerprint(_ paths: [FilePath]) throws(FileError) -> String {
    SourceTags(
        try paths.map { path throws(FileError) in try backedUpPath(path, followsLast: true) }
    ).fingerprint
}

/// Removes the snapshots that no rule keeps, and the records of the files in them, for `forget` and
/// `run`.
///
/// - Parameter isDryRun: whether it is only decided which these are.
func forgetSnapshots(
    by rules: RetentionRules, _ scope: ForgetScope, isDryRun: Bool = false, in engine: Restic
) async throws -> [ForgetDecision] {
    let decisions = try await engine.forgetDecisions(rules, scope) { before, after in
        renewStoredFiles(in: engine, of: before.identifier, as: after.identifier)
    }
    guard !isDryRun, !decisions.allSatisfy(\.isKept) else { return decisions }
    let staying = decisions.filter(\.isKept).map(\.snapshot.identifier)
    try forgetStoredFiles(in: engine, except: Set(staying))
    try await engine.forget(decisions)
    return decisions
}

extension [ForgetDecision] {
    /// Prints which snapshots are kept and which are not.
    func writeText(isDryRun: Bool = false) {
        var buffer = OutputBuffer()
        for decision in self {
            let snapshot = decision.snapshot
            buffer.append(text: decision.isKept ? "keep    " : "remove  ")
            buffer.append(
                text: "\(snapshot.shortIdentifier)  \(snapshot.time.rfc3339ToTheSecond)")
            if decision.isKept {
                buffer.append(text: "  \(decision.reasons.joined(separator: ", "))")
            }
            buffer.append("\n")
            buffer.endRecord()
        }
        let kept = count(where: \.isKept)
        buffer.append(text: "snapshots: \(kept) kept, \(count - kept) ")
        buffer.append(text: isDryRun ? "would be removed\n" : "removed\n")
        buffer.flush()
    }
}

/// The rules for snapshots to keep, with restic's option names.
struct RetentionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Keep the newest N snapshots; -1 for all.", valueName: "n"))
    var keepLast: Int?
    @Option(help: ArgumentHelp("Keep the newest of each of N hours.", valueName: "n"))
    var keepHourly: Int?
    @Option(help: ArgumentHelp("Keep the newest of each of N days.", valueName: "n"))
    var keepDaily: Int?
    @Option(help: ArgumentHelp("Keep the newest of each of N weeks.", valueName: "n"))
    var keepWeekly: Int?
    @Option(help: ArgumentHelp("Keep the newest of each of N months.", valueName: "n"))
    var keepMonthly: Int?
    @Option(help: ArgumentHelp("Keep the newest of each of N years.", valueName: "n"))
    var keepYearly: Int?
    @Option(
        help: ArgumentHelp(
            "Keep all made within this time before the newest, such as 1y5m7d2h.",
            valueName: "span"))
    var keepWithin: String?
    @Option(
        help: ArgumentHelp(
            "Keep the newest of each hour within this time.", valueName: "span"))
    var keepWithinHourly: String?
    @Option(
        help: ArgumentHelp(
            "Keep the newest of each day within this time.", valueName: "span"))
    var keepWithinDaily: String?
    @Option(
        help: ArgumentHelp(
            "Keep the newest of each week within this time.", valueName: "span"))
    var keepWithinWeekly: String?
    @Option(
        help: ArgumentHelp(
            "Keep the newest of each month within this time.", valueName: "span"))
    var keepWithinMonthly: String?
    @Option(
        help: ArgumentHelp(
            "Keep the newest of each year within this time.", valueName: "span"))
    var keepWithinYearly: String?
    @Option(
        help: ArgumentHelp(
            "Keep all with this tag, or with all of several joined by commas; may be repeated.",
            valueName: "tags"))
    var keepTag: [String] = []

    func validate() throws { _ = try rules() }

    /// Returns the rules.
    ///
    /// - Throws: `ValidationError` for a count, span or tag that is not valid.
    func rules() throws -> RetentionRules {
        var rules = RetentionRules()
        for (period, count) in counts {
            guard let count else { continue }
            guard count > 0 || count == -1 else {
                throw ValidationError("--keep-\(period.rawValue) takes a number from 1, or -1")
            }
            rules.counts[period] = count
        }
        for (period, text) in spans {
            guard let text else { continue }
            guard let span = CalendarSpan(text) else {
                throw ValidationError("a span is written as 1y5m7d2h, not '\(text)'")
            }
            rules.spans[period] = span
        }
        rules.tags = keepTag.map(RetentionRules.tagList)
        guard rules.tags.allSatisfy({ !$0.isEmpty }) else {
            throw ValidationError("--keep-tag takes a tag")
        }
        return rules
    }

    private var counts: [(RetentionRules.Period, Int?)] {
        [
            (.last, keepLast), (.hourly, keepHourly), (.daily, keepDaily),
            (.weekly, keepWeekly), (.monthly, keepMonthly), (.yearly, keepYearly),
        ]
    }

    private var spans: [(RetentionRules.Period, String?)] {
        [
            (.last, keepWithin), (.hourly, keepWithinHourly), (.daily, keepWithinDaily),
            (.weekly, keepWithinWeekly), (.monthly, keepWithinMonthly),
            (.yearly, keepWithinYearly),
        ]
    }
}

extension RetentionRules {
    /// Returns the tags that are joined by commas.
    static func tagList(_ text: String) -> [String] {
        text.unicodeScalars.split(separator: ",").map(String.init)
    }
}
