import SystemPackage
import TestSupport
import Testing

@Suite("Priority")
struct PriorityTests {
    @Test(
        "restic keeps the priority that the command was started with, also where more is permitted")
    func nice() throws {
        try require(.root)
        try withBackup(of: Tree { File("file", "text") }) { backup in
            let seen = backup.base.appending("seen")
            let restic = try #require(FilePath.tool("restic"))
            var command = try backup.with(
                "restic", "nice >> \(seen)\nexec \"\(restic)\" \"$@\"",
                backup.command([
                    "-n", "7", FilePath.built("resval-backup"), "create", backup.source,
                ])
            )
            command.executable = try #require(FilePath.tool("nice"))
            try command.runSuccessfully()
            try #expect(Set(tool("cat", seen).split(separator: "\n")) == ["7"])
        }
    }
}
