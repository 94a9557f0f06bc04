import SystemPackage
import TestSupport
import Testing

@Suite("What root is told of another user's repository", .cleansUp)
struct RootAdviceTests {
    @Test("the command that it names works for that user as it stands", arguments: [true, false])
    func pasted(isNamedByEnvironment: Bool) throws {
        try require(.root, .tool("setpriv"))
        let backup = try backup { File("f", "text").permissions(0o644) }
        try tool("chmod", "755", backup.source)
        try tool("chown", "-R", "54321", backup.repository, backup.base.appending("password"))
        let refused =
            isNamedByEnvironment
            ? try backup.create(exits: 1)
            : try backup.create("--repository", backup.repository, exits: 1)
        let advice = try #require(
            refused.errorText.split(separator: "sudo -u '#54321' resval-backup ").last)
        let words = try #require(advice.split(separator: ", use a directory of root").first)
        var command = Command(
            "/bin/sh", "-c",
            "exec setpriv --reuid 54321 --clear-groups \(FilePath.built("resval-backup")) \(words)"
        )
        // What sudo leaves of an environment does not name a repository.
        for (name, _) in backup.environment { command.environment[name] = .some(nil) }
        let home = backup.base.appending("theirs")
        try tool("mkdir", home)
        try tool("chown", "54321", home)
        command.environment["HOME"] = home.string
        command.environment["RESTIC_CACHE_DIR"] = home.appending("cache").string
        try command.run(exits: 0, prints: "snapshot ")
    }
}
