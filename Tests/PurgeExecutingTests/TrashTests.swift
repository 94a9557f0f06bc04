import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("The trash")
struct TrashTests {
    @Test("holds what would be deleted, in the home, with its original paths")
    func holds() throws {
        let tree = Tree {
            File("same", block).purgeable()
            Directory(".cache") {
                Directory("app") {
                    Directory("unit") { File("file", block) }
                    File("same", block)
                    File(HostileNames.longest, block)
                }
                Directory("other") { File(HostileNames.longest, block) }
            }
        }
        try withPurgeHome(tree) { home in
            let report = try home.purge { $0.mode = .trash }
            #expect(report.removed.count == 5)
            #expect(report.outcome.predictedBytes == 0)
            #expect(report.outcome.measuredBytes == nil)
            #expect(!home(".cache/app/unit").exists)
            let trash = home(".resval-trash-2096-10-02")
            let status = try trash.status()
            #expect(status.permissions == 0o700)
            #expect(trash.appending("unit/file").exists)
            let fields = try contentsOfFile(trash.appending(".index")).split(separator: 0)
            #expect(fields.count == 10)
            for index in stride(from: 0, to: fields.count, by: 2) {
                #expect(trash.appending(FilePath(bytes: fields[index]).components).exists)
                #expect(report.removed.contains(FilePath(bytes: fields[index + 1])))
            }
            // What is in the trash is not purged, nor moved there once more.
            #expect(try home.plan().units == [])
        }
    }

    @Test("is never another user's directory, nor a link")
    func foreign() throws {
        try require(.root)
        let tree = Tree {
            File("marked", block).purgeable()
            SymbolicLink(".resval-trash-2096-10-02", to: "Documents")
            Directory(".resval-trash-2096-10-02-2").owned(by: 65534).permissions(0o777)
            Directory("Documents")
        }
        try withPurgeHome(tree) { home in
            let report = try home.purge { $0.mode = .trash }
            #expect(report.removed == [home("marked")])
            #expect(home(".resval-trash-2096-10-02-3/marked").exists)
        }
    }

    @Test("keeps what is in use or changed")
    func kept() throws {
        let tree = Tree {
            File("marked", block).purgeable()
            cache("unit") { File("file", block) }
        }
        try withPurgeHome(tree) { home in
            var executor = home.executor()
            executor.mode = .trash
            let plan = try home.plan()
            let descriptor = try openForReading(home(".cache/app/unit/file"))
            try home("marked").setValue(false, for: .isPurgeable)
            let report = try home.carryOut(plan, executor)
            try closeFile(descriptor)
            #expect(report.kept[home(".cache/app/unit")] == .inUse)
            #expect(report.kept[home("marked")] == .changed)
            #expect(report.removed == [])
        }
    }
}
