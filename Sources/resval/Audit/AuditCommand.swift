import ArgumentParser
import BackupPlanning
import CommandSupport
import EffectiveValues
import FileTree
import PurgePlanning
import StoragePolicy

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Find what is wrong with marks and backups.",
        discussion: """
            Looks at everything below each ROOT as a backup of that ROOT does, and prints what is wrong \
            with its size, the reason, and the command that mends it, if there is one: exclusions of \
            documents, of what git tracks and of copies with new work, evicted files whose content is \
            not known, marks that are malformed, contradict each other or change nothing, that a \
            program drops when it saves or that nothing enforces, purgeable items that are never \
            deleted, and large files without a mark for backups. Nothing is changed. Exits with 1 \
            when something was found.

            EXAMPLES
              resval audit ~
              resval audit --larger-than 100M ~/src
              resval audit --json ~ | jq -r 'select(.finding == "useless").command'
            """)

    @Option(help: ArgumentHelp("Files are large above this size on disk.", valueName: "size"))
    var largerThan = ByteSize(bytes: 10 << 20)

    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    var isJSON = false

    @OptionGroup var rootOptions: RootOptions
    @OptionGroup var policyOptions: SourcePolicyOptions
    @OptionGroup var color: ColorOptions

    func run() throws {
        try rootOptions.run { run in
            let environment = PolicyEnvironment.current()
            let items: Monitor<[AuditItem]> = Monitor([])
            let recreationReader = try MarkReader.current([.rules])
            for root in try auditRoots(in: environment, recreationReader, run.outcome)
            where !StopRequest.isMade {
                var scanner = rootOptions.walk.scanner()
                scanner.followsRoots = false
                scanner.leavesAccessTimes = true
                let start = TreeRoot(
                    root.item.path, context: AuditScope(plan: PlanContext(source: root.item)))
                try scanner.scan([start]) { _ in
                    AuditVisitor(reporter: WalkReporter(run), root: root, items: items)
                }
            }
            let audit = Audit(
                environment: environment, outcome: run.outcome, limit: largerThan.bytes,
                trees: recreationReader.workTrees)
            let found = items.withLock { $0 }
            TreeSize.addUp(found.compactMap(\.tree))
            let findings = StopRequest.isMade ? [] : audit.findings(found)
            run.progress.end()
            if !StopRequest.isMade { write(findings) }
            if !findings.isEmpty { run.outcome.noteNo() }
        }
    }

    /// Returns the ROOTs, without those inside another, and reports those that cannot be reached.
    private func auditRoots(
        in environment: PolicyEnvironment, _ recreationReader: MarkReader, _ outcome: Outcome
    ) throws -> [AuditRoot] {
        let policy = policyOptions.policy.policy(in: environment)
        let repositories = BackupRepositories.used(in: environment)
        var found: [AuditRoot] = []
        for root in rootOptions.paths {
            do throws(FileError) {
                let reader = try EffectiveValueReader(
                    policy, source: policyOptions.source?.path ?? root.path)
                var planner = BackupPlanner(policy: reader.policy, mounts: environment.mounts)
                planner.repositories = repositories
                let item = try reader.item(at: root.path)
                found.append(
                    AuditRoot(
                        item: item, rules: PlanRules(planner, reader.markReader),
                        // What is excluded there is in the backup by the mount alone.
                        repeatedMounts: RepeatedMounts(environment.mounts, below: [item.path]) {
                            (try? reader.item(at: $0))?.decision.isExcluded == false
                        },
                        limit: largerThan.bytes,
                        staysOnFilesystem: rootOptions.walk.staysOnFilesystem,
                        recreationReader: recreationReader))
            } catch {
                outcome.report(error, at: root.bytes)
            }
        }
        return found.withoutNested(
            environment.mounts, staysOnFilesystem: rootOptions.walk.staysOnFilesystem, \.item)
    }

    private func write(_ findings: [Finding]) {
        var buffer = OutputBuffer()
        if isJSON {
            for finding in findings { finding.writeObject(to: &buffer) }
            var line = JSONLine.output()
            line.add("type", "totals")
            line.add("findingCount", findings.count)
            line.end(in: &buffer)
        } else {
            let isColored = color.color.colorsStandardOutput
            for finding in findings { finding.writeLines(to: &buffer, isColored: isColored) }
            buffer.append(text: "total: \(counted(findings.count, "finding"))\n")
        }
        buffer.flush()
    }
}
