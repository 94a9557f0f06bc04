import EffectiveValues
import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("What a purge that was cut off left", .cleansUp)
struct LeftoverTests {
    @Test("is left alone when the journal does not name it")
    func stranger() throws {
        let home = try purgeHome {
            Directory(".cache") {
                Directory(".resval-purge-first") { File("file", block) }
                File("app/file", block)
                Directory("app/.resval-purge-second") { File("file", block) }.purgeable()
                File("app/unit/.resval-purge-third/file", block)
            }
        }
        let report = try home.purge()
        #expect(report.removed == [home(".cache/app/file")])
        for path in [
            ".cache/.resval-purge-first", ".cache/app/.resval-purge-second",
            ".cache/app/unit/.resval-purge-third",
        ] {
            #expect(home(path + "/file").exists)
        }
    }

    @Test("is finished when it was being removed")
    func deleting() throws {
        let (home, _, aside) = try unitPutAside(.deleting)
        try expectFinish(home, [home(".cache/app/unit"): .finished])
        #expect(!aside.exists)
        try expectFinish(home, [:])
    }

    @Test("gets its name back when it was only put aside")
    func aside() throws {
        let (home, _, _) = try unitPutAside(.aside)
        try expectFinish(home, [home(".cache/app/unit"): .restored])
        #expect(home(".cache/app/unit/deep/file").exists)
    }

    @Test("what was put aside stays there while something has its name")
    func nameTaken() throws {
        let (home, _, aside) = try unitPutAside(.aside)
        try tool("mkdir", home(".cache/app/unit"))
        try expectFinish(home, [aside: .leftAlone(.nameTaken)])
        #expect(aside.appending("deep/file").exists)
        try tool("rmdir", home(".cache/app/unit"))
        try expectFinish(home, [home(".cache/app/unit"): .restored])
    }

    @Test("is still in the journal when a directory that took its name kept it aside")
    func keptAside() throws {
        let home = try purgeHome { cache("unit") { File("file", block) } }
        let unit = home(".cache/app/unit")
        var aside: FilePath?
        let report = try home.execute(home.plan()) { call in
            guard call == .flock, !unit.exists, aside == nil else { return }
            aside = try home.unitByNow()
            // The second examination finds a change.
            if let aside { try tool("touch", aside.appending("new")) }
            try tool("mkdir", unit)
        }
        let kept = try #require(aside)
        #expect(report.failed.keys.contains(unit), "\(report)")
        #expect(kept.appending("file").exists)
        try expectFinish(home, [kept: .leftAlone(.nameTaken)])
        try tool("rmdir", unit)
        try expectFinish(home, [unit: .restored])
        #expect(unit.appending("file").exists)
    }

    @Test("is left alone when it is another directory, which may be a copy")
    func other() throws {
        let (home, _, aside) = try unitPutAside(.deleting)
        try tool("mv", aside, home("moved"))
        try tool("cp", "-a", home("moved"), aside)
        try expectFinish(home, [aside: .leftAlone(.unidentified)])
        #expect(aside.appending("deep/file").exists)
    }

    @Test("what was put aside is left alone when the directory it was in is another one")
    func otherParent() throws {
        let (home, _, aside) = try unitPutAside(.deleting)
        try tool("mv", home(".cache/app"), home("moved"))
        try tool("cp", "-a", home("moved"), home(".cache/app"))
        // Each run says so, and how to end that.
        for _ in 0..<2 { try expectFinish(home, [aside: .leftAlone(.unreachable)]) }
        #expect(aside.appending("deep/file").exists)
        #expect(LeftAloneReason.unreachable.sentence.contains("resval/purge/journal"))
        try tool("rm", home.state.appending("journal"))
        try expectFinish(home, [:])
    }

    @Test("is finished from where it was cut off")
    func begun() throws {
        let (home, _, aside) = try unitPutAside(.deleting)
        try tool("rm", aside.appending("deep/file"))
        try expectFinish(home, [home(".cache/app/unit"): .finished])
    }

    @Test("what was partly removed stays when it cannot be told from a stranger's")
    func begunUnknown() throws {
        let (home, _, aside) = try unitPutAside(.deleting, knowsInodes: false)
        usleep(20_000)
        try tool("rm", aside.appending("deep/file"))
        // Each run says so, until it is gone.
        for _ in 0..<2 { try expectFinish(home, [aside: .partlyRemoved]) }
        #expect(aside.appending("deep").exists)
        #expect(!home(".cache/app/unit").exists)
        try tool("rm", "-r", aside)
        try expectFinish(home, [:])
    }

    @Test("keeps what was moved into it since", arguments: [true, false])
    func movedIn(knowsInodes: Bool) throws {
        let (home, _, aside) = try unitPutAside(.deleting, knowsInodes: knowsInodes)
        usleep(20_000)
        try tool("mkdir", "-p", home("Documents/inner"))
        try tool("cp", aside.appending("file"), home("Documents/document"))
        try tool("touch", "-d", "@1000000000", home("Documents/inner"))
        try tool("mv", home("Documents"), aside.appending("deep"))
        // As if something had been removed from it by the purge that was cut off.
        try tool("touch", aside.appending("deep/Documents/new"))
        try expectFinish(home, [aside: .partlyRemoved])
        #expect(aside.appending("deep/Documents/inner").exists)
        #expect(aside.appending("deep/Documents/old").exists)
        #expect(!aside.appending("file").exists)
        #expect(!home(".cache/app/unit").exists)
    }

    @Test("stays while it is marked as not purgeable, or what it is in or what is in it")
    func marked() throws {
        let (home, _, aside) = try unitPutAside(.deleting)
        for path in [aside, aside.appending("deep"), home(".cache")] {
            try path.setValue(false, for: .isPurgeable)
            var report = PurgeReport()
            try home.executor().finishLeftovers { report.add($0) }
            guard case .leftAlone(.kept(.protected)) = report.leftovers[aside] else {
                Issue.record("\(path): \(report.leftovers)")
                continue
            }
            #expect(aside.appending("deep/file").exists)
            try path.setValue(true, for: .isPurgeable)
        }
        try expectFinish(home, [home(".cache/app/unit"): .finished])
    }

    @Test("stays while a process uses it")
    func used() throws {
        let (home, _, aside) = try unitPutAside(.deleting)
        let deep = aside.appending("deep")
        for (use, reason) in [
            ("cd $0", .processInside), ("exec 3< $0/file", .inUse),
            ("exec 3< $0; flock 3", .locked),
        ] as [(String, KeepReason)] {
            let ready = home.root.appending("ready")
            let process = try SleepingProcess(
                "/bin/sh", "-ec", "\(use); touch $1; exec sleep 100", deep, ready)
            try wait(for: ready)
            let mock = SystemCallMock([:])
            try mock.run { try expectFinish(home, [aside: .leftAlone(.kept(reason))]) }
            let tries = mock.calls[.flock, default: 0] + mock.calls[.fcntl, default: 0]
            #expect(tries <= 10, "none is waited for")
            process.end()
            try tool("rm", ready)
        }
        #expect(deep.appending("file").exists)
        try expectFinish(home, [home(".cache/app/unit"): .finished])
    }

    @Test("is not looked at by an execution right after it was")
    func once() throws {
        let (home, _, aside) = try unitPutAside(.deleting)
        var executor = home.executor()
        executor.finishesLeftovers = false
        #expect(try home.execute(home.plan(), executor).leftovers == [:])
        #expect(aside.exists)
    }

    @Test("stays while something of it is mounted elsewhere")
    func mounted() throws {
        try require(.root)
        let (home, _, aside) = try unitPutAside(.deleting)
        try tool("mkdir", home("elsewhere"))
        try tool("mount", "--bind", aside.appending("deep"), home("elsewhere"))
        try afterwards { try tool("umount", home("elsewhere")) }
        try expectFinish(home, [aside: .leftAlone(.kept(.mountedElsewhere))])
        #expect(aside.appending("deep/file").exists)
    }

    @Test("stays when what came into it later would have an earlier time")
    func future() throws {
        let (home, record, aside) = try unitPutAside(.deleting)
        let later = AsideRecord(
            state: .deleting, identity: record.identity, parent: record.parent,
            parentPath: record.parentPath, name: record.name, asideName: record.asideName,
            newestChange: .later, knownInodes: record.knownInodes)
        try PurgeJournal(in: home.state).store([later])
        try expectFinish(home, [aside: .leftAlone(.kept(.fromTheFuture))])
        #expect(aside.appending("deep/file").exists)
    }

    @Test("keeps the other name of a file that lost one, and may have been written since")
    func rewritten() throws {
        let (home, first, aside) = try unitPutAside(.deleting)
        let file = aside.appending("file")
        var record = first
        record.knownInodes?.insert(try file.status().identity.inode)
        try PurgeJournal(in: home.state).store([record])
        usleep(20_000)
        try tool(
            "sh", "-c", "touch -r $0 $1 && echo mine > $0 && touch -r $1 $0", file,
            home.root.appending("time"))
        try expectFinish(home, [aside: .partlyRemoved])
        #expect(try contentsOfFile(file) == Array("mine\n".utf8))
    }

    @Test("stays when it is protected by now, or on the way to what is")
    func protected() throws {
        for name in ["", "deep"] {
            let (home, _, aside) = try unitPutAside(.deleting)
            var search = home.search()
            search.protected = [aside.appending(name)]
            var report = PurgeReport()
            try home.executor(search).finishLeftovers { report.add($0) }
            #expect(report.leftovers == [aside: .leftAlone(.kept(.protectedRoot))])
            #expect(aside.appending("deep/file").exists)
            try expectFinish(home, [home(".cache/app/unit"): .finished])
        }
    }
}
