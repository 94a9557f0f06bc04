import ArgumentParser
import BackupEngines
import CommandSupport
import SystemCalls
import SystemPackage

/// `resval-backup verify`.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check a repository, and that a snapshot can be read.",
        discussion: """
            Without --read-data only the structure is looked at: a byte that went bad in stored \
            data is not seen. When damage is found that can be healed, the commands to do so are \
            printed, one a line, and the exit code is 1.

            Examples:
              resval-backup verify                     structure only, quick
              resval-backup verify latest --read-data  every byte, and the newest snapshot
            """)

    @Argument(
        help: ArgumentHelp(
            "A snapshot whose items and record are read, too: the first digits of its ID, or "
                + "latest.",
            valueName: "snapshot"))
    var snapshot: String?

    @Flag(help: "Read every byte stored and compare it with its hash.")
    var readData = false

    @Flag(help: "Print the result as a JSON object.")
    var json = false

    @OptionGroup var repository: RepositoryOptions

    func validate() throws { _ = try snapshot.map { try SnapshotChoice(argument: $0) } }

    func run() async throws {
        let choice = try snapshot.map { try SnapshotChoice(argument: $0) }
        let result = try await running { [repository, readData] in
            try await repository.engine().verify(choice, readsData: readData)
        }
        for problem in result.problems { Messages.write(about: [UInt8]?.none, problem) }
        var buffer = OutputBuffer()
        let steps = steps(result)
        if json {
            write(json: result, steps, to: &buffer)
        } else {
            write(result, steps, to: &buffer)
        }
        buffer.flush()
        if !result.problems.isEmpty { throw ExitCode(1) }
    }

    private func write(
        _ result: VerifyResult, _ steps: [RepairStep], to buffer: inout OutputBuffer
    ) {
        // With steps to run, everything but these is a comment, so that a shell can be given it all.
        let mark = result.problems.isEmpty ? "" : "# "
        if let items = result.items {
            buffer.append(text: "\(mark)\(items) items can be listed\n")
        }
        let scope = readData ? "all data was read" : "structure only; --read-data reads all data"
        guard !result.problems.isEmpty else {
            return buffer.append(text: "no damage found (\(scope))\n")
        }
        buffer.append(text: "# damage found (\(scope))\n")
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

    private func write(
        json result: VerifyResult, _ steps: [RepairStep], to buffer: inout OutputBuffer
    ) {
        var line = JSONLine()
        line.add("isHealthy", result.problems.isEmpty)
        line.add("readsData", readData)
        line.add("items", result.items)
        line.add("problems", strings: result.problems)
        line.add("repair", objects: steps) { step, object in
            object.add("purpose", step.purpose)
            object.add(
                "command",
                step.command.isEmpty
                    ? nil : step.command.map(ShellWord.quoted).joined(separator: " "))
        }
        line.end(in: &buffer)
    }

    /// The engine's steps, and those that store anew what was lost.
    private func steps(_ result: VerifyResult) -> [RepairStep] {
        guard !result.repair.isEmpty else { return [] }
        let create = result.sourceSets.map { sources in
            RepairStep(
                purpose: "store again what is still there",
                command: command("create") + sources.map(\.bytes))
        }
        let verify = RepairStep(
            purpose: "see whether everything could be stored again; snapshots that still lack "
                + "something are named",
            command: command("verify") + [Array("--read-data".utf8)])
        return result.repair + create + [verify]
    }

    private func command(_ name: String) -> [[UInt8]] {
        var words = ["resval-backup", name].map { Array($0.utf8) }
        // Any other location may hold a password, and is found in the environment.
        if let location = repository.repository, repository.location?.directory != nil {
            words += [Array("--repository".utf8), location.bytes]
        }
        if let file = repository.passwordFile {
            words += [Array("--password-file".utf8), file.bytes]
        }
        return words
    }
}
