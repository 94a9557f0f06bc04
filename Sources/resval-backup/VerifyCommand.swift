import ArgumentParser
import BackupEngines
import CommandSupport
import SystemCalls
import SystemPackage
import TextFormats

/// `resval-backup verify`.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check a repository, and that a snapshot can be read.",
        discussion: """
            Without --read-data only the structure is checked: a byte that went bad in stored \
            data is not seen. The exit code is 1 when damage is found. The items of snapshots that \
            cannot be read whole are named, and the commands that heal what can be healed are \
            printed, one a line.

            --repair stores anew what can be read of damaged packs, makes a damaged index anew, \
            and moves aside what is damaged. It needs the repository for itself.

            --repair moves the files of snapshots that are too damaged to be read out of the way \
            of the others, under names that say so, or stores them anew from restic's cache.

            JSON FIELDS
            \(JSONFields.version)
              isHealthy: boolean
              readsData: boolean
              items: number or null
              problems: strings
              lost[].path: string or null
              lost[].pathBase64: string, optional
              lost[].isExact: boolean
              lost[].isDirectory: boolean
              lost[].snapshots: strings (full IDs)
              repaired: strings
              repair[].purpose: string
              repair[].command: string or null
            \(JSONFields.progress)

            EXAMPLES
              resval-backup verify                       structure only, quick
              resval-backup verify latest --read-data    every byte, and the newest snapshot
              resval-backup verify --read-data --repair  heal what is found
            """)

    @Argument(
        help: ArgumentHelp(
            "A snapshot whose items and record are read, too: the first digits of its ID, or "
                + "latest.",
            valueName: "snapshot"))
    var snapshot: String?

    @Flag(help: "Read every byte stored and compare it with its hash.")
    var readData = false

    @Flag(help: "Heal the damage that is found; nothing that can be read is lost.")
    var repair = false

    @Flag(help: "Print the result as a JSON object.")
    var json = false

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    func validate() throws { _ = try snapshot.map { try SnapshotChoice(argument: $0) } }

    func run() async throws {
        let choice = try snapshot.map { try SnapshotChoice(argument: $0) }
        let result = try await checkData(
            in: repository, progress, choice, readsData: readData, repairs: repair)
        result.write(asJSON: json, readsData: readData)
        if !result.isHealthy { throw ExitCode(1) }
    }
}

/// Checks a repository, for `verify` and `run`, and names the damage on standard error.
///
/// - Throws: as ``running(_:)`` does.
func checkData(
    in repository: RepositoryOptions, _ progress: ProgressOptions,
    _ snapshot: SnapshotChoice? = nil, readsData: Bool, repairs: Bool = false
) async throws -> VerifyResult {
    let display = progress.begin("checking the repository")
    defer { display.end() }
    let result = try await running {
        try await repository.engine(showing: display).verify(
            snapshot, readsData: readsData, repairs: repairs)
    }
    for action in result.actions { Messages.write(about: action.path, action.sentence) }
    for problem in result.check.problems { Messages.write(about: [UInt8]?.none, problem) }
    for item in result.check.lost { Messages.write(about: item.path, item.sentence) }
    return result
}

extension VerifyResult {
    /// Prints the result, and the commands that heal what can be healed.
    ///
    /// - Parameter readsData: whether all data was read.
    func write(asJSON isJSON: Bool, readsData: Bool) {
        var buffer = OutputBuffer()
        if isJSON {
            writeJSON(readsData, to: &buffer)
        } else {
            writeText(readsData, to: &buffer)
        }
        buffer.flush()
    }

    private func writeText(_ readsData: Bool, to buffer: inout OutputBuffer) {
        // With steps to run, everything but the commands is a comment, so that all of it can be
        // pasted into a shell.
        let mark = isHealthy ? "" : "# "
        if let items {
            buffer.append(text: "\(mark)\(counted(items, "item")) can be listed\n")
        }
        let scope = readsData ? "all data was read" : "structure only; --read-data reads all data"
        guard !isHealthy else {
            return buffer.append(
                text: actions.isEmpty
                    ? "no damage found (\(scope))\n"
                    : "the damage is healed, and nothing is missing\n")
        }
        buffer.append(
            text: actions.isEmpty
                ? "# damage found (\(scope))\n"
                : "# what could be read of the damaged files was stored anew; the rest is missing\n"
        )
        guard !steps.isEmpty else { return }
        buffer.append(text: "# To heal it, run these commands, one after the other:\n")
        for step in steps {
            buffer.append(text: "# \(step.purpose)\n")
            guard !step.command.isEmpty else { continue }
            for (index, word) in step.command.enumerated() {
                if index > 0 { buffer.append(" ") }
                buffer.append(text: ShellWord.quoted(word))
            }
            buffer.append("\n")
        }
    }

    private func writeJSON(_ readsData: Bool, to buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add("isHealthy", isHealthy)
        line.add("readsData", readsData)
        line.add("items", items)
        line.add("problems", strings: check.problems)
        line.add("lost", objects: check.lost) { item, object in
            object.add(path: item.path)
            object.add("isExact", item.isExact)
            object.add("isDirectory", item.isDirectory)
            object.add("snapshots", strings: item.snapshots.map(\.identifier))
        }
        line.add("repaired", strings: actions.filter { $0.path == nil }.map(\.sentence))
        line.add("repair", objects: steps) { step, object in
            object.add("purpose", step.purpose)
            object.add(
                "command",
                step.command.isEmpty
                    ? nil : step.command.map(ShellWord.quoted).joined(separator: " "))
        }
        line.end(in: &buffer)
    }

    /// Returns the engine's steps, and those that store lost items again.
    private var steps: [RepairStep] {
        var steps = check.repair.map { step in
            guard let name = step.command.first, step.isOwn else { return step }
            return RepairStep(
                purpose: step.purpose,
                command: command(String(decoding: name, as: UTF8.self)) + step.command.dropFirst())
        }
        // The engine offers no steps when it is neither damaged nor missing data.
        guard !steps.isEmpty || !check.lost.isEmpty else { return [] }
        steps += sourceSets.map { sources in
            RepairStep(
                purpose: "store again what is still there",
                command: command("create") + sources.map(\.bytes))
        }
        steps.append(
            RepairStep(
                purpose: "check whether everything could be stored again; what is still missing "
                    + "from snapshots is named, each time until these are forgotten",
                command: command("verify")))
        return steps
    }

    private func command(_ name: String) -> [[UInt8]] {
        ["resval-backup", name].map { Array($0.utf8) } + Advice.words
    }
}

extension LostItem {
    /// What happened to the item, as text that follows its path.
    fileprivate var sentence: String {
        let shown = snapshots.prefix(5).map(\.shortIdentifier).joined(separator: ", ")
        let more = snapshots.count > 5 ? " and \(snapshots.count - 5) more" : ""
        let what = isDirectory ? "and all below it cannot be read" : "cannot be read whole"
        let evicted =
            snapshots.contains(where: \.isPinned)
            ? "; evicted files have no other copy" : ""
        return "\(what) in snapshot\(snapshots.count == 1 ? "" : "s") \(shown)\(more)\(evicted)"
    }
}
