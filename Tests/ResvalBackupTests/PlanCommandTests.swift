import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("The command plan")
struct PlanCommandTests {
    private static let tree = Tree {
        File("kept", "12345")
        File("marked", "text").excluded()
        Directory("directory") { File("inside", "text") }.excluded()
        File("twin", "text").excluded()
        HardLink("second twin", to: "twin")
        Socket("socket")
    }

    private func plan(_ arguments: String...) throws -> [String] {
        try withTemporaryDirectory(containing: Self.tree) { root in
            let command = Command(
                .built("resval-backup"), arguments: ["plan"] + arguments + [root])
            let result = try command.run(exits: 0)
            return result.text.replacing("\(root)", with: "ROOT").split(separator: "\n")
                .map { String($0) }.sorted()
        }
    }

    @Test("each item has its reason, and the totals count them")
    func text() throws {
        let lines = try plan()
        #expect(
            lines == [
                "exclude   ROOT/directory: its mark excludes it",
                "exclude   ROOT/marked: its mark excludes it",
                "exclude   ROOT/socket: it is a socket",
                "store     ROOT",
                "store     ROOT/kept",
                "store     ROOT/second twin: "
                    + "its mark does not count, because the file has 2 hard links",
                "store     ROOT/twin: its mark does not count, because the file has 2 hard links",
                "total: 5 items stored (3 files with 13 B, 2 directories, 0 others), 3 excluded",
            ])
    }

    @Test("JSON names the marker of another program's mark")
    func marker() throws {
        let tree = Tree {
            File("robots").attribute("user.xdg.robots.backup", "false")
            Socket("socket")
        }
        try withTemporaryDirectory(containing: tree) { root in
            let text = try Command(.built("resval-backup"), "plan", "--json", root)
                .runSuccessfully()
            #expect(text.contains(#""reason":"marker","marker":"xdg","#))
            #expect(text.contains(#""reason":"socket","marker":null,"#))
        }
    }

    @Test("only what is left out can be asked for, as JSON too")
    func excludedOnly() throws {
        let lines = try plan("--excluded-only", "--json")
        #expect(lines.count == 4)
        #expect(
            lines.first
                == #"{"version":1,"type":"item","path":"ROOT/directory","kind":"directory","isStored":false,"#
                + #""reason":"marked","marker":"native","sentence":"its mark excludes it"}"#)
        #expect(lines.last?.contains(#""excludedItems":3"#) == true)
    }

    @Test("a FUSE mount that does not answer is left out, and stops nothing")
    func silentMount() throws {
        let tree = Tree {
            Directory("source") { Directory("inner") }
            Directory("home") { File("file", "text") }
        }
        try withTemporaryDirectory(containing: tree) { root in
            let home = root.appending("home")
            let mount = home.appending("mount")
            try withSilentMounts(at: [mount], showing: root.appending("source")) {
                let result = try Command(.built("resval-backup"), "plan", home).killed(
                    after: .seconds(30)
                ).run(exits: 0)
                #expect(result.text.contains("exclude   \(mount): "), "\(result)")
                #expect(result.text.contains("store     \(home)/file"), "\(result)")
            }
        }
    }
}
