import SystemPackage
import TestSupport
import Testing

@Suite("Counts of items")
struct CountTests {
    private let tree = Tree {
        File("file", "12345")
        HardLink("second name", to: "file")
        SymbolicLink("link", to: "file")
        Directory("directory") { File("inside", "text") }
        Directory("excluded") { File("object") }.excluded()
        Fifo("fifo")
        Socket("socket")
    }

    /// Expects that 8 items are counted wherever a number of them is shown: the source, the two
    /// directories, three names of files, the link and the FIFO.
    private func expectAgreement(
        _ run: ([any CommandArgument]) throws -> CommandResult, _ source: FilePath,
        _ target: FilePath
    ) throws {
        let plan = try run(["plan", source])
        #expect(
            plan.text.contains(
                "total: 8 items stored (3 files with 14 B, 3 directories, 2 others), 2 excluded\n"),
            "\(plan)")
        let create = try run(["create", source])
        #expect(create.exitCode == 0, "\(create)")
        #expect(create.text.contains(": 8 items, 14 B; 2 excluded; "), "\(create)")
        let show = try run(["show", "latest"])
        #expect(show.text.contains("contains: 8 items, 14 B\n"), "\(show)")
        let verify = try run(["verify", "latest"])
        #expect(verify.text.hasPrefix("8 items can be listed\n"), "\(verify)")
        let restore = try run(["restore", "--snapshot", "latest", "--target", target])
        #expect(restore.text.contains(": 8 items restored\n"), "\(restore)")
        let one = try run([
            "restore", "--snapshot", "latest", "--target", target.appending("one"),
            source.appending("file"),
        ])
        #expect(one.text.contains(": 1 item restored\n"), "\(one)")
    }

    @Test("agree in plan, create, show, verify and restore, with restic")
    func restic() throws {
        try withBackup(of: tree) { backup in
            try expectAgreement({ try backup.command($0).run() }, backup.source, backup.target)
        }
    }

    @Test("progress counts the files of the plan, not the record that goes with them")
    func progress() throws {
        try withBackup(of: tree) { backup in
            let status =
                #"{"message_type":"status","total_files":4,"files_done":4,"bytes_done":999}"#
            // The first second is not worth any progress.
            let command = try backup.command(
                ["create", "--progress", "json", backup.source],
                beforeBackup: "sleep 1.5; echo '\(status)'; sleep 1.5")
            let result = try command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(
                result.errorText.contains(
                    #""type":"progress","step":"files stored","done":3,"total":3,"bytes":14,"#),
                "\(result)")
        }
    }
}
