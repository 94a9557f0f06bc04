import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Progress of resval-backup", .cleansUp)
struct ProgressTests {
    private static let tree = Tree {
        for number in 1...3 {
            File(
                "file \(number)",
                Array(repeating: Array("content of \(number)\n".utf8), count: 20_000).flatMap { $0 }
            )
        }
    }

    /// Has the content come from `restic dump`, and slows its output down, so that there is progress
    /// to show in the middle.
    private static let slowDump = """
        case "$*" in *masterkey*) exit 1;; dump*) "$REAL" "$@" | { head -c 300000; sleep 1.5; cat; }; exit;; esac
        """

    @Test(
        "a result never stands behind progress, and a terminal that cannot clear a line shows none")
    func results() throws {
        try require(.tool("script"))
        let backup = try backup(of: Self.tree)
        for work in ["evict", "download"] {
            for type in ["xterm", "dumb"] {
                if work == "download", type == "dumb" {
                    try backup.runSuccessfully("evict", "-R", "--yes", backup.source)
                } else if type == "dumb" {
                    try backup.runSuccessfully("download", "-R", backup.source)
                }
                let arguments: [any CommandArgument] =
                    work == "evict" ? ["evict", "-R", "--yes"] : ["download", "-R"]
                let result = try backup.command(
                    arguments + [backup.source], before: Self.slowDump
                ).onTerminal(type).run(exits: 0)
                #expect(result.text.contains("\u{1B}") == (type == "xterm"))
                let output = TerminalOutput(result.text)
                let isProgress = { (text: String) in text.hasPrefix("files \(work)ed: ") }
                #expect(output.cleared.contains(where: isProgress) == (type == "xterm"))
                #expect(output.lines.count { $0.hasPrefix("\(backup.source)/file ") } == 3)
                #expect(output.lines.count { $0.hasPrefix("total: 3 files, ") } == 1)
                #expect(!output.lines.contains { $0.contains("files \(work)ed: ") })
            }
        }
    }

    /// The first display of a step's progress that has these fields.
    @discardableResult
    private func progress(
        _ step: String, _ fields: String = "", in result: CommandResult,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        let lines = result.errorText.split(separator: "\n").map(String.init)
        return try #require(
            lines.first {
                $0.hasPrefix(#"{"version":1,"type":"progress","step":"\#(step)","#)
                    && $0.contains(fields)
            }, "\(result)", sourceLocation: sourceLocation)
    }

    @Test("create tells how much of the plan is stored, before restic has found all of it")
    func create() throws {
        let backup = try backup(of: Self.tree)
        let status =
            #"{"message_type":"status","total_files":1,"files_done":1,"total_bytes":9,"bytes_done":9}"#
        let all =
            #"{"message_type":"status","total_files":4,"files_done":4,"bytes_done":999999}"#
        let result = try backup.command(
            ["create", "--progress", "json", backup.source],
            before: """
                case $1 in backup)
                    sleep 1.2; echo '\(status)'; sleep 1.5; echo '\(all)'; sleep 1.5;;
                esac
                """
        ).run(exits: 0)
        // Not the record, which goes with them.
        try progress("files stored", #""done":3,"total":3,"bytes":780000,"#, in: result)
        // Before restic tells anything.
        try progress("files stored", #""done":0,"total":3,"bytes":0,"#, in: result)
        try progress(
            "files stored", #""done":1,"total":3,"bytes":9,"totalBytes":780000,"percent":0,"#,
            in: result)
        try progress("items compared", #""done":0,"total":4,"#, in: result)
        try progress("comparing with earlier snapshots", #""done":null,"#, in: result)
    }

    @Test("verify and prune tell what restic tells")
    func packs() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        for words in [["verify", "--read-data"], ["prune"]] {
            let result = try backup.command(
                words + ["--progress", "json"],
                before: """
                    case $1 in check|prune) sleep 1.2; echo '[0:01] 25.00%  1 / 4 packs';; esac
                    """
            ).run(exits: 0)
            let line = try progress("packs", #""done":1,"total":4,"#, in: result)
            #expect(line.contains(#""percent":25,"#), "\(line)")
        }
    }

    @Test("restore tells what restic has restored, and verify what it lists")
    func restore() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let status =
            #"{"message_type":"status","percent_done":0.5,"bytes_restored":390000}"#
        let restore = try backup.command(
            [
                "restore", "--snapshot", "latest", "--target", backup.target, "--progress",
                "json",
            ], before: "case $1 in restore) sleep 1.5; echo '\(status)'; sleep 1.5;; esac"
        ).run(exits: 0)
        let written = try progress("content restored", #""percent":50,"#, in: restore)
        #expect(written.contains(#""done":null,"total":null,"bytes":390000,"#), "\(written)")
        #expect(written.contains(#""totalBytes":780000,"#), "\(written)")
        try progress("putting items in place", #""done":null,"#, in: restore)
        let verify = try backup.command(
            ["verify", "latest", "--progress", "json"],
            before: "case $1 in check) sleep 1.2;; esac"
        ).run(exits: 0)
        try progress("checking the repository", #""done":null,"total":null,"#, in: verify)
        try progress("items listed", #""done":0,"total":null,"#, in: verify)
    }

    @Test("nothing is shown where there is no terminal, or none is wanted")
    func forms() throws {
        let backup = try backup(of: Self.tree)
        for form in ["auto", "never"] {
            let result = try backup.command(
                ["create", "--progress", form, backup.source],
                before: "case $1 in backup) sleep 1.5;; esac"
            ).run(exits: 0)
            #expect(result.errorText == "")
        }
    }

    @Test("counts of items agree wherever a number of them is shown")
    func agreement() throws {
        let tree = Tree {
            File("file", "12345")
            HardLink("second name", to: "file")
            SymbolicLink("link", to: "file")
            Directory("directory") { File("inside", "text") }
            Directory("excluded") { File("object") }.excluded()
            Fifo("fifo")
            Socket("socket")
        }
        // The source, the two directories, three names of files, the link and the FIFO.
        let backup = try backup(of: tree)
        let file = backup("file")
        for (words, text) in [
            (
                ["plan", backup.source],
                "total: 8 items stored (3 files with 14 B, 3 directories, 2 others), 2 excluded\n"
            ),
            (["create", backup.source], ": 8 items, 14 B; 2 excluded; "),
            (["show", "latest"], "contains: 8 items, 14 B\n"),
            (["verify", "latest"], "\n8 items can be listed, as many files as were stored\n"),
            (
                ["restore", "--snapshot", "latest", "--target", backup.target],
                ": 8 items restored\n"
            ), (["restore", "--target", "\(backup.target)1", file], ": 1 item restored\n"),
            (
                ["restore", "--target", "\(backup.target)2", "\(backup.source)//directory/"],
                ": 2 items restored\n"
            ),
        ] as [([any CommandArgument], String)] {
            let result = try backup.command(words).run(exits: 0)
            #expect("\n\(result.text)".contains(text), "\(result)")
        }
    }
}
