import ArgumentParser
import BackupPlanning
import CommandSupport
import ResourceValues

/// `resval-backup plan`.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what a backup would store and leave out, each with its reason.")

    @OptionGroup var source: SourceArguments
    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var policy: PolicyOptions

    @Flag(help: "Show only what is left out.")
    var excludedOnly = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func run() async throws {
        let sources = try source.present()
        let planner = makePlanner(policy, repository: repository.location)
        let plan = try await running { [json, excludedOnly] in
            try planner.makePlan(for: sources) { _ in
                PlanPrinter(isJSON: json, wantsStoredItems: !excludedOnly)
            }
        }
        report(plan.notices)
        write(plan.totals)
        if plan.isIncomplete || sources.count < source.sources.count { throw ExitCode(3) }
    }

    private func write(_ totals: PlanTotals) {
        var buffer = OutputBuffer()
        if json {
            var line = JSONLine()
            line.add("type", "totals")
            line.add("storedFiles", totals.storedFiles)
            line.add("storedDirectories", totals.storedDirectories)
            line.add("storedOthers", totals.storedOthers)
            line.add("storedBytes", totals.storedBytes)
            line.add("leftOutItems", totals.leftOutItems)
            line.add("leftOutFileBytes", totals.leftOutFileBytes)
            line.end(in: &buffer)
        } else {
            buffer.append(text: "total: \(totals.storedItems) items stored ")
            buffer.append(text: "(\(totals.storedFiles) files with \(totals.storedBytes) bytes, ")
            buffer.append(text: "\(totals.storedDirectories) directories, ")
            buffer.append(text: "\(totals.storedOthers) others), ")
            buffer.append(text: "\(totals.leftOutItems) left out\n")
        }
        buffer.flush()
    }
}
