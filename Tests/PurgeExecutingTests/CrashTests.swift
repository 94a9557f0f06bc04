import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

/// What purges that die work on.
let crashTree = Tree {
    Directory(".cache/app") {
        for unit in ["first", "second"] {
            Directory("\(unit)") {
                for index in 0..<4 { File("file\(index)", block) }
                File("deep/file", block)
                File("deep/deeper/file", block)
                HardLink("twin", to: FilePath(".cache/app/\(unit)/file0"))
            }
        }
    }
    File("Documents/document", block).purgeable()
    HardLink("Documents/linked", to: ".cache/app/first/deep/file")
    File("unmarked", block)
}

/// Expects that the next run leaves nothing half done, and all documents whole.
func expectRecovery(_ home: PurgeFixture, _ moment: Comment) throws {
    var report = PurgeReport()
    try home.executor().finishLeftovers { report.add($0) }
    #expect(!report.leftovers.values.map(\.name).contains("left-alone"), moment)
    for (aside, state) in report.leftovers where state == .partlyRemoved {
        // Its other name is gone.
        #expect(try ["file0", "twin"].contains(tool("ls", aside)), moment)
        try tool("rm", "-r", aside)
    }
    try home.executor().finishLeftovers { _ in }
    for unit in ["first", "second"] {
        let path = home(".cache/app/\(unit)")
        guard path.exists else { continue }
        for file in (0..<4).map({ "file\($0)" }) + ["deep/file", "deep/deeper/file"] {
            let content = try contentsOfFile(path.appending(FilePath(file).components))
            #expect(content == Array(block.utf8), moment)
        }
    }
    var names: [String] = []
    try forEachName(in: home(".cache/app")) { name in
        names.append(String(decoding: name, as: UTF8.self))
        return true
    }
    #expect(Set(names).isSubset(of: ["first", "second"]), moment)
    for document in ["Documents/document", "Documents/linked", "unmarked"] {
        #expect(try contentsOfFile(home(document)) == Array(block.utf8), moment)
    }
    #expect(try PurgeJournal(in: home.state).records == [], moment)
    let last = try home.purge()
    #expect(last.failed == [:] && last.kept == [:] && last.leftovers == [:], moment)
    #expect(!home(".cache/app/first").exists && !home(".cache/app/second").exists, moment)
}

@Suite("A purge that dies before any call that changes something", .cleansUp)
struct CrashTests {
    @Test("leaves each unit whole or gone, after the next run")
    func everyCall() throws {
        let homes = try purgeHomes()
        var call = 1
        var died = true
        while died {
            died = try cleaningUp {
                let home = try homes.home(crashTree)
                let result = try Command(
                    .built("test-tool"), "purge", home.home, home.state, "\(call)"
                ).run()
                let died = result.end == .signal(SIGKILL)
                #expect(died || result.exitCode == 0, "\(result)")
                try expectRecovery(home, "call \(call)")
                return died
            }
            call += 1
        }
        #expect(call > 30)
    }

    @Test(
        "never gives a unit its name back that is partly gone: one of too many directories to note")
    func manyDirectories() throws {
        let home = try purgeHome { cache("unit") {} }
        let unit = home(".cache/app/unit")
        try tool("bash", "-c", "cd $0 && mkdir {1..9500} && touch {1..9500}/file", unit)
        let result = try Command(.built("test-tool"), "purge", home.home, home.state, "3000")
            .run()
        #expect(result.end == .signal(SIGKILL))
        let record = try #require(try PurgeJournal(in: home.state).records.first)
        #expect(record.state == .deleting && record.knownInodes == nil)
        let aside = FilePath(bytes: record.asidePath)
        let left = try tool("ls", aside).split(separator: "\n").count
        #expect(left > 5000 && left < 9500)
        // What was not begun is removed; what the removal had begun to empty cannot be told apart.
        for _ in 0..<2 {
            var report = PurgeReport()
            try home.executor().finishLeftovers { report.add($0) }
            #expect(!unit.exists)
            if report.leftovers == [unit: .finished] { break }
            #expect(report.leftovers == [aside: .partlyRemoved])
        }
    }
}
