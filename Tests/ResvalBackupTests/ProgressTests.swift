import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Progress of resval-backup")
struct ProgressTests {
    private static let tree = Tree {
        for number in 1...3 {
            File(
                FileName(Array("file \(number)".utf8)),
                Array(repeating: Array("content of \(number)\n".utf8), count: 20_000).flatMap { $0 }
            )
        }
    }

    /// Runs a command on a terminal of its own.
    ///
    /// - Returns: what it wrote there, to standard output and standard error.
    private func onTerminal(_ type: String, _ command: Command) throws -> CommandResult {
        let script = try #require(FilePath.tool("script"))
        let words = ([command.executable.bytes] + command.arguments)
            .map { "'" + String(decoding: $0, as: UTF8.self) + "'" }.joined(separator: " ")
        var command = command
        command.executable = script
        command.arguments = ["-qec", words, "/dev/null"].map { Array($0.utf8) }
        command.environment["TERM"] = type
        return try command.run()
    }

    /// Slows the output of `restic dump` down, so that there is progress to show in the middle.
    private static let slowDump = """
        case $1 in dump) "$REAL" "$@" | { head -c 300000; sleep 1.5; cat; }; exit;; esac
        """

    @Test(
        "a result never stands behind progress, and a terminal that cannot clear a line shows none")
    func results() throws {
        try require(.tool("script"))
        try withBackup(of: Self.tree) { backup in
            for work in ["evict", "download"] {
                for type in ["xterm", "dumb"] {
                    if work == "download", type == "dumb" {
                        try backup.runSuccessfully("evict", "-R", "--yes", backup.source)
                    } else if type == "dumb" {
                        try backup.runSuccessfully("download", "-R", backup.source)
                    }
                    let arguments: [any CommandArgument] =
                        work == "evict" ? ["evict", "-R", "--yes"] : ["download", "-R"]
                    let result = try onTerminal(
                        type,
                        backup.command(arguments + [backup.source], before: Self.slowDump))
                    #expect(result.exitCode == 0, "\(result)")
                    let clearing = "\r\u{1B}[K"
                    let progress = "files \(work)ed: "
                    #expect(result.text.contains(clearing + progress) == (type == "xterm"))
                    #expect(result.text.contains("\u{1B}") == (type == "xterm"))
                    let lines = result.text.split(separator: "\r\n").map { line in
                        line.split(separator: clearing, omittingEmptySubsequences: false)
                            .map(String.init)
                    }
                    #expect(
                        lines.count { $0.last?.hasPrefix("\(backup.source)/file ") == true } == 3)
                    #expect(lines.count { $0.last?.hasPrefix("total: 3 files, ") == true } == 1)
                    // What is left when the line was cleared the last time.
                    #expect(lines.allSatisfy { $0.last?.contains("files \(work)ed: ") == false })
                }
            }
        }
    }

    /// The fields of the progress of a step.
    private func progress(_ step: String, in result: CommandResult) throws -> String {
        let lines = result.errorText.split(separator: "\n").map(String.init)
        return try #require(
            lines.first { $0.hasPrefix(#"{"type":"progress","step":"\#(step)","#) }, "\(result)")
    }

    @Test("create tells how much of the plan is stored, before restic has found all of it")
    func create() throws {
        try withBackup(of: Self.tree) { backup in
            let status =
                #"{"message_type":"status","total_files":1,"files_done":1,"total_bytes":9,"bytes_done":9}"#
            let result = try backup.command(
                ["create", "--progress", "json", backup.source],
                before: "case $1 in backup) sleep 1.2; echo '\(status)';; esac"
            ).run()
            #expect(result.exitCode == 0, "\(result)")
            let line = try progress("files stored", in: result)
            #expect(
                line.contains(#""done":1,"total":3,"bytes":9,"totalBytes":780000,"percent":0,"#))
        }
    }

    @Test("verify and prune tell what restic tells")
    func packs() throws {
        try withBackup(of: Self.tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            for words in [["verify", "--read-data"], ["prune"]] {
                let result = try backup.command(
                    words + ["--progress", "json"],
                    before: """
                        case $1 in check|prune) sleep 1.2; echo '[0:01] 25.00%  1 / 4 packs';; esac
                        """
                ).run()
                #expect(result.exitCode == 0, "\(result)")
                let line = try progress("packs", in: result)
                #expect(line.contains(#""done":1,"total":4,"#), "\(line)")
                #expect(line.contains(#""percent":25,"#), "\(line)")
            }
        }
    }
}
