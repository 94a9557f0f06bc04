import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Undoing import and export", .cleansUp)
struct ImportUndoTests: MassChangeSuite {
    @Test("undo knows items again when their filesystem is mounted anew, and no others")
    func undoRemounted() throws {
        let tree = Tree { File("f").attribute(ForeignAttribute.xdg, "true") }
        for isSame in [true, false] {
            let filesystem = try remountedFilesystem(.ext4)
            let state = try temporaryDirectory()
            func run(_ arguments: String...) throws -> CommandResult {
                try resval(
                    arguments: arguments, in: filesystem.root,
                    environment: ["XDG_STATE_HOME": state.string])
            }
            let file = filesystem.root.appending("f")
            try tree.create(in: filesystem.root)
            let identity = try file.status().identity
            try #expect(run("import", "--from", "xdg", "f").exitCode == 0)
            if isSame {
                try filesystem.remount()
                try #require(file.status().identity != identity)
            } else {
                try filesystem.replace()
                try tree.create(in: filesystem.root)
                try file.setValue(false, for: .isExcludedFromBackup)
                try #require(file.status().identity == identity)
            }
            let directory = state.appending("resval")
            let journal = try directory.appending(tool("ls", directory))
            let undone = try run("undo", journal.string)
            #expect(undone.exitCode == (isSame ? 0 : 2), "\(undone)")
            let value = try file.value(for: .isExcludedFromBackup)
            #expect(value == (isSame ? nil : false))
        }
    }

    @Test("saved marks, or no journal at all, are not obeyed")
    func wrongJournal() throws {
        let saved = #"{"format":"resval-marks","version":1,"root":"/"}"# + "\n"
        let root = try temporaryDirectory {
            Directory("tree") { File("f").attribute(ForeignAttribute.xdg, "false") }
            File("text", "{\"path\":\"/f\"}\n")
            File("empty")
        }
        _ = try run("import", "--from", "xdg", in: root)
        let journal = try contentsOfFile(journal(in: root))
        let lines = journal.split(separator: 0x0A, omittingEmptySubsequences: false)
        try Tree {
            File("marks", Array(saved.utf8) + lines.dropFirst().joined(separator: [0x0A]))
        }.create(in: root)
        for name in ["marks", "text", "empty"] {
            let result = try run("undo", "../\(name)", in: root)
            #expect(result.exitCode == 2, "\(name)")
            #expect(result.text == "marks undone: 0; not undone: 0\n")
        }
        try #expect(root.appending("tree/f").value(for: .isExcludedFromBackup) == true)
        // A line that is cut short was not acted upon.
        let cut = Tree { File("cut", Array(journal.dropLast(5))) }
        try cut.create(in: root)
        try run("undo", "../cut", in: root).expect(exits: 0, says: "the last line is truncated")
    }
}
