import ArgumentParser
import BackupEngines
import CommandSupport
import EffectiveValues
import Eviction
import SystemCalls
import SystemPackage
import TextFormats

/// `resval-backup forget`.
struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Remove snapshots that no rule keeps.",
        discussion: """
            Only snapshots that resval-backup made on this machine of the same SOURCEs are \
            examined. The newest one made and the newest complete one stay whatever the rules say, \
            snapshots of evicted files, held ones and those dated in the future too, and \
            incomplete ones never displace complete ones. Nothing is removed while a snapshot waits for \
            resval-backup accept.

            JSON FIELDS
            \(JSONFields.version)
              snapshot: string (the full ID)
              time: time
              isKept: boolean
              reasons: strings
              sources[].path: string or null
              sources[].pathBase64: string, optional
            \(JSONFields.progress)

            EXAMPLES
              resval-backup forget --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --prune
              resval-backup forget ~/Documents --keep-last 3 --dry-run
              resval-backup forget --all --keep-within 1y
            """)

    @Argument(
        help: ArgumentHelp(
            "The SOURCEs of the snapshots, as they were backed up. Without them, the only ones "
                + "this machine has backed up.",
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

    @Flag(help: "Print one JSON object per snapshot.")
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
            all ? .everySet : sources.isEmpty ? .onlySet : try .sources(named: sources.map(\.path))
        try repository.reportDefault()
        let display = progress.begin("reading the repository")
        defer { display.end() }
        let decisions = try await running { [repository, isDryRun, prune] in
            let engine = try repository.engine(showing: display)
            let decisions = try await forgetSnapshots(
                by: rules, scope, isDryRun: isDryRun, in: engine)
            if prune, !isDryRun { try await engine.pruneUnlessShrunk() }
            return decisions
        }
        guard json else { return decisions.writeText(isDryRun: isDryRun) }
        var buffer = OutputBuffer()
        for decision in decisions { write(json: decision, to: &buffer) }
        buffer.flush()
    }

    private func write(json decision: Retention.Decision, to buffer: inout OutputBuffer) {
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

extension ForgetScope {
    /// Returns the snapshots of SOURCEs, which may have been deleted since.
    static func sources(named paths: [FilePath]) throws(FileError) -> ForgetScope {
        .sources(
            try paths.map { path throws(FileError) in
                try backedUpPath(path, followsLast: true)
            })
    }
}

/// Removes the snapshots that no rule keeps, and the records of the files in them, for `forget` and
/// `run`.
///
/// - Parameter isDryRun: whether it is only decided which these are.
func forgetSnapshots(
    by rules: RetentionRules, _ scope: ForgetScope, isDryRun: Bool = false, in engine: Restic
) async throws -> [Retention.Decision] {
    let decisions = try await engine.decideRetention(rules, scope: scope, now: .current())
    guard !isDryRun, !decisions.allSatisfy(\.isKept) else { return decisions }
    let staying = decisions.filter(\.isKept).map(\.snapshot.identifier)
    try forgetStoredFiles(in: engine, except: Set(staying))
    try await engine.forget(decisions)
    return decisions
}

extension [Retention.Decision] {
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
