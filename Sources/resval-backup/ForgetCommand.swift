import ArgumentParser
import BackupPlanning
import Backups
import CommandSupport
import SystemCalls
import SystemPackage

struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Remove snapshots that no rule keeps.",
        discussion: """
            restic's rules decide, among the snapshots that resval-backup made here of the same \
            SOURCEs. The one made last stays, and those that alone have something are held. While \
            one is dated wrong, nothing is removed (resval-backup accept ends that).

            EXAMPLES
              resval-backup forget --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --prune
              resval-backup forget ~/Documents --keep-last 3 --dry-run
            """)

    @Argument(
        help: ArgumentHelp(
            "The SOURCEs of the snapshots (default: the configuration's, or the only set there is).",
            valueName: "source"))
    var sources: [PathArgument] = []

    @Flag(help: "Apply the rules to each set of SOURCEs.")
    var all = false

    @OptionGroup(title: "Rules") var retention: RetentionOptions

    @Flag(help: "Remove data that no snapshot needs, too.")
    var prune = false

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Only show what would happen.")
    var isDryRun = false

    @Flag(help: "Print one JSON object per snapshot: see resval-json(5).")
    var json = false

    @OptionGroup var repository: RepositoryOptions

    func validate() throws {
        guard !all || sources.isEmpty else {
            throw ValidationError("give SOURCEs or --all, not both")
        }
    }

    func run() async throws {
        let scope = all ? .everySet : repository.scope(of: sources)
        let prunes = prune && !isDryRun
        let (decisions, size) = try await repository.working("reading the repository") {
            [isDryRun, rules = retention.rules] engine in
            let decisions = try await engine.forget(by: rules, scope, isDryRun: isDryRun)
            return (decisions, prunes ? try await engine.prune() : nil)
        }
        guard json else {
            decisions.writeText(isDryRun: isDryRun)
            if prunes { writePruned(size) }
            return
        }
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
        line.add("sources", paths: snapshot.sources.map(\.bytes))
        line.end(in: &buffer)
    }
}

/// Returns the name of what `create` backs up: its SOURCEs, which may have been deleted since.
func sourcesFingerprint(_ paths: [FilePath]) -> String {
    SnapshotTags.fingerprint(of: paths.map { backedUpPath($0) })
}

extension RepositoryOptions {
    func scope(of sources: [PathArgument]) -> ForgetScope {
        sources.isEmpty
            ? .onlySet(preferring: configurationName)
            : .configuration(sourcesFingerprint(sources.map(\.path)))
    }
}

extension [ForgetDecision] {
    func writeText(isDryRun: Bool = false) {
        var buffer = OutputBuffer()
        for decision in self {
            let snapshot = decision.snapshot
            let reasons =
                decision.isKept ? "  \(decision.reasons.joined(separator: ", "))" : ""
            buffer.append(
                line: (decision.isKept ? "keep    " : "remove  ")
                    + "\(snapshot.shortIdentifier)  \(snapshot.time.localText)\(reasons)")
            buffer.endRecord()
        }
        let kept = count(where: \.isKept)
        buffer.append(text: "snapshots: \(kept) kept, \(count - kept) ")
        buffer.append(text: isDryRun ? "would be removed\n" : "removed\n")
        buffer.flush()
    }
}
