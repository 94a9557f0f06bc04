import SystemPackage
import TestSupport
import Testing

@Suite("Homes of others that hold anything but a journal")
struct HostileHomeTests {
    @Test("neither stop root's plan and backup nor change them")
    func things() throws {
        try withBackup(of: Tree { File("file", evictableContent) }) { backup in
            let homes = try HostileHomes(in: backup.base, root: backup.base.appending("home"))
            for words in [["plan", "\(backup.source)"], ["create", "\(backup.source)"]] {
                let result = try homes.meeting(backup.command(words)).run(exits: 0)
                #expect(result.text.contains("2 items"), "\(result)")
                #expect(result.text.contains("0 excluded"))
            }
        }
    }
}
