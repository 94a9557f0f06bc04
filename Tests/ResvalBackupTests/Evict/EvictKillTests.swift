import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Evicting and bringing back, killed")
struct EvictKillTests {
    @Test("killed at any moment, the file is whole or can be brought back")
    func killed() throws {
        try withBackup(of: oneFile) { backup in
            let file = backup.source.appending("file")
            let before = try TreeListing(of: backup.source)
            let clock = ContinuousClock()
            let evict = backup.command(["evict", file])
            let download = backup.command(["download", file])
            let evicting = try clock.measure { try evict.runSuccessfully() }
            let downloading = try clock.measure { try download.runSuccessfully() }
            for moment in killMoments(upTo: evicting) {
                _ = try evict.killed(after: moment).run()
                try backup.ageLocks()
                try backup.runSuccessfully("evict", "--recover", backup.source)
                if try file.status().permissions == 0 { try download.runSuccessfully() }
                #expect(try TreeListing(of: backup.source).differences(from: before) == [])
                #expect(try backup.runSuccessfully("evict", "--list", backup.source) == "")
            }
            for moment in killMoments(upTo: downloading) {
                try evict.runSuccessfully()
                _ = try download.killed(after: moment).run()
                try backup.ageLocks()
                // Refused where it is done.
                _ = try download.run()
                #expect(try TreeListing(of: backup.source).differences(from: before) == [])
                #expect(try backup.runSuccessfully("evict", "--list", backup.source) == "")
            }
        }
    }

    @Test("killed at any moment, each of several files is whole or can be brought back")
    func killedAmongSeveral() throws {
        let tree = Tree {
            for number in 1...8 {
                File("file \(number)", evictableContent + [UInt8(number)])
            }
        }
        try withBackup(of: tree) { backup in
            let before = try TreeListing(of: backup.source)
            let clock = ContinuousClock()
            let evict = backup.command(["evict", "-R", "--yes", backup.source])
            let download = backup.command(["download", "-R", backup.source])
            let evicting = try clock.measure { try evict.runSuccessfully() }
            let downloading = try clock.measure { try download.runSuccessfully() }
            for moment in killMoments(upTo: evicting) {
                _ = try evict.killed(after: moment).run()
                try backup.ageLocks()
                try backup.runSuccessfully("evict", "--recover", backup.source)
                try download.runSuccessfully()
                #expect(try TreeListing(of: backup.source).differences(from: before) == [])
            }
            for moment in killMoments(upTo: downloading) {
                try evict.runSuccessfully()
                _ = try download.killed(after: moment).run()
                try backup.ageLocks()
                try download.runSuccessfully()
                #expect(try TreeListing(of: backup.source).differences(from: before) == [])
                #expect(try backup.runSuccessfully("evict", "--list", backup.source) == "")
            }
        }
    }
}
