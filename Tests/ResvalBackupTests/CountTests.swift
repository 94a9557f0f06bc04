import SystemPackage
import TestSupport
import Testing

@Suite("Counts of items")
struct CountTests {
    @Test("agree wherever a number of them is shown")
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
        try withBackup(of: tree) { backup in
            let file = backup.source.appending("file")
            for (words, text) in [
                (
                    ["plan", backup.source],
                    "total: 8 items stored (3 files with 14 B, 3 directories, 2 others), 2 excluded\n"
                ),
                (["create", backup.source], ": 8 items, 14 B; 2 excluded; "),
                (["show", "latest"], "contains: 8 items, 14 B\n"),
                (["verify", "latest"], "\n8 items can be listed\n"),
                (
                    ["restore", "--snapshot", "latest", "--target", backup.target],
                    ": 8 items restored\n"
                ), (["restore", "--target", "\(backup.target)1", file], ": 1 item restored\n"),
            ] as [([any CommandArgument], String)] {
                let result = try backup.command(words).run(exits: 0)
                #expect("\n\(result.text)".contains(text), "\(result)")
            }
        }
    }
}
