import ArgumentParser
import Backups
import CommandSupport
import SystemCalls

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check a repository, and that a snapshot can be read.",
        discussion: """
            Without --read-data only the structure is checked: a byte that went bad in stored \
            data is not seen. Then the newest snapshot of each set of SOURCEs is listed, and its \
            record read. The exit code is 1 when damage is found. The items of snapshots that have \
            lost data are named, and restic's commands that repair what can be repaired are \
            printed, one a line.

            EXAMPLES
              resval-backup verify                     structure only, quick
              resval-backup verify --read-data         every byte
              resval-backup verify 1a2b3c4d            and read this snapshot
            """)

    @Argument(
        help: ArgumentHelp(
            "The snapshot whose items and record are read: the first four or more digits of "
                + "its ID, or latest. Without it, the newest of each set of SOURCEs of this machine.",
            valueName: "snapshot"))
    var snapshot: SnapshotChoice?

    @Flag(help: "Read every byte stored and compare it with its hash.")
    var readData = false

    @Flag(help: "Print the result as a JSON object: see resval-json(5).")
    var json = false

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    func run() async throws {
        let result = try await checkData(in: repository, progress, snapshot, readsData: readData)
        result.write(asJSON: json, readsData: readData)
        if !result.isHealthy { throw ExitCode(1) }
    }
}

/// Checks a repository, for `verify` and `run`, and names the damage on standard error.
func checkData(
    in repository: RepositoryOptions, _ progress: ProgressOptions,
    _ snapshot: SnapshotChoice? = nil, readsData: Bool
) async throws -> VerifyResult {
    let result = try await repository.working("checking the repository", progress) {
        try await $0.verify(snapshot, readsData: readsData)
    }
    for problem in result.problems { Messages.write(problem) }
    for item in result.lost {
        Messages.write(about: item.path, "has lost data in snapshot \(item.snapshot.prefix(8))")
    }
    return result
}

extension VerifyResult {
    /// Prints the result, and the commands that heal what can be healed.
    func write(asJSON isJSON: Bool, readsData: Bool) {
        printResult(asJSON: isJSON) {
            addFields(readsData, to: &$0)
        } text: {
            writeText(readsData, to: &$0)
        }
    }

    private func writeText(_ readsData: Bool, to buffer: inout OutputBuffer) {
        // With steps to run, everything but the commands is a comment, so that all of it can be
        // pasted into a shell.
        let mark = isHealthy ? "" : "# "
        if let items {
            let kind = isCompared ? "as many files as were stored" : "compared with no note of them"
            buffer.append(text: "\(mark)\(counted(items, "item")) can be listed, \(kind)\n")
        }
        let scope = readsData ? "all data was read" : "structure only; --read-data reads all data"
        guard !isHealthy else { return buffer.append(text: "no damage found (\(scope))\n") }
        buffer.append(text: "# damage found (\(scope))\n")
        guard !steps.isEmpty else { return }
        buffer.append(text: "# To repair it, run these commands, one after the other:\n")
        for step in steps {
            buffer.append(text: "# \(step.purpose)\n")
            for (index, word) in step.command.enumerated() {
                if index > 0 { buffer.append(" ") }
                buffer.append(text: ShellWord.quoted(word))
            }
            buffer.append("\n")
        }
    }

    private func addFields(_ readsData: Bool, to line: inout JSONLine) {
        line.add("isHealthy", isHealthy)
        line.add("readsData", readsData)
        line.add("items", items)
        line.add("isCompared", isCompared)
        line.add("problems", strings: problems)
        line.add("lost", objects: lost) { item, object in
            object.add(path: item.path)
            object.add("snapshot", item.snapshot)
        }
        line.add("repair", objects: steps) { step, object in
            object.add("purpose", step.purpose)
            object.add("command", step.command.map(ShellWord.quoted).joined(separator: " "))
        }
    }

    /// Returns restic's steps, and those that store lost items again.
    private var steps: [RepairStep] {
        guard !isHealthy, !(repair.isEmpty && sourceSets.isEmpty) else { return [] }
        let again = sourceSets.map { sources in
            RepairStep(
                purpose: "store again what is still there",
                command: command("create") + sources.map(\.bytes))
        }
        let check = RepairStep(
            purpose: "check whether everything could be stored again; what is still missing from "
                + "snapshots is named, each time until these are forgotten",
            command: command("verify"))
        return repair + again + [check]
    }

    private func command(_ name: String) -> [[UInt8]] {
        ["resval-backup", name].map { Array($0.utf8) } + Advice.words
    }
}
