import EffectiveValues
import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("resval import, killed")
struct ImportKillTests {
    @Test("after kill -9 at any moment undo brings back what there was", .timeLimit(.minutes(5)))
    func killed() throws {
        let count = 600
        let tree = Tree {
            for number in 0..<count { File("f\(number)").attribute(ForeignAttribute.xdg, "false") }
        }
        for moment in killMoments(upTo: .milliseconds(150)) {
            try cleaningUp {
                let root = try temporaryDirectory()
                let inside = try temporaryDirectory(containing: tree)
                let command = Command(
                    .built("resval"), "import", "--from", "xdg", inside,
                    environment: ["XDG_STATE_HOME": root.string])
                _ = try command.killed(after: moment).run()
                let written = try marked(inside)
                let directory = root.appending("resval")
                let journal = (try? tool("ls", directory)) ?? ""
                let undo = try Command(.built("resval"), "undo", directory.appending(journal)).run()
                // Without a journal nothing was written.
                #expect(undo.exitCode == 0 || written == 0, "\(undo)")
                try #expect(marked(inside) == 0)
            }
        }
    }

    private func marked(_ directory: FilePath) throws -> Int {
        try Command(.built("resval"), "find", "--excluded", "-0", directory).run().records.count
    }
}
