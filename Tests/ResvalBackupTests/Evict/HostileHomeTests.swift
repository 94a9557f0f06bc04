import SystemPackage
import TestSupport
import Testing

@Suite("Homes of others that hold anything but a journal")
struct HostileHomeTests {
    private static let content = Array(repeating: Array("0123456789abcdef".utf8), count: 20_000)
        .flatMap { $0 }

    @Test("neither stop root's plan and backup nor change them")
    func things() throws {
        try withBackup(of: Tree { File("file", Self.content) }) { backup in
            let homes = try HostileHomes(in: backup.base, root: backup.base.appending("home"))
            for words in [["plan", "\(backup.source)"], ["create", "\(backup.source)"]] {
                let result = try homes.meeting(backup.command(words)).run()
                #expect(result.exitCode == 0, "\(result)")
                #expect(result.text.contains("2 items"), "\(result)")
                #expect(result.text.contains("0 left out"))
            }
        }
    }

    @Test("keep no file of root's out of its backup, also by a link to what is root's")
    func rootsFiles() throws {
        let tree = Tree { File("file", Self.content) }
        for isLinked in [false, true] {
            try withBackup(of: tree) { backup in
                try require(.root)
                try backup.runSuccessfully("evict", backup.source.appending("file"))
                let user = String(HostileHomes.user)
                let home = backup.base.appending("other")
                let state = home.appending(".local/state")
                try tool("mkdir", "-p", home.appending(".local"))
                try tool("mv", backup.base.appending("home/.local/state"), state)
                try tool("chown", "-R", user, home)
                if isLinked {
                    let evicted = state.appending("resval/evicted")
                    let shared = backup.base.appending("shared")
                    try tool("mv", evicted, shared)
                    try tool("chown", "0", shared)
                    try tool("ln", "-s", shared, evicted)
                }
                let homes = try HostileHomes(
                    in: backup.base, root: backup.base.appending("home"), others: [home])
                let plan = try homes.meeting(backup.command(["plan", backup.source])).run()
                #expect(plan.exitCode == 0, "\(plan)")
                #expect(plan.text.contains("0 left out"), "\(plan)")
            }
        }
    }

    @Test("keep their own files out only when the backup's repository has the snapshot")
    func ownFiles() throws {
        try withBackup(of: Tree { File("file", Self.content) }) { backup in
            try require(.root)
            let file = backup.source.appending("file")
            try backup.runSuccessfully("evict", file)
            let home = backup.base.appending("other")
            try tool("mkdir", "-p", home.appending(".local"))
            try tool("mv", backup.base.appending("home/.local/state"), home.appending(".local"))
            try tool("chown", "-R", String(HostileHomes.user), home)
            try tool("chown", String(HostileHomes.user), file)
            let homes = try HostileHomes(
                in: backup.base, root: backup.base.appending("home"), others: [home])
            var plan = try homes.meeting(backup.command(["plan", backup.source]))
            #expect(try plan.run().text.contains("1 left out"))
            let other = backup.base.appending("repository2")
            try tool("cp", "-r", try emptyRepository(), other)
            plan.environment["RESVAL_BACKUP_REPOSITORY"] = "\(other)"
            let result = try plan.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(result.text.contains("0 left out"))
            #expect(result.errorText.contains("\(file): warning: is evicted, and snapshot "))
        }
    }
}
