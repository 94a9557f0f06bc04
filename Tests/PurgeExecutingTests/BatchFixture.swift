import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

/// A home with eight directories in two others, which are deleted together.
struct BatchFixture {
    private static let names = (0..<4).map { "unit\($0)" }
    static let tree = Tree {
        Directory(".cache") {
            for app in ["app", "other"] {
                Directory("\(app)") {
                    for name in names {
                        Directory("\(name)") {
                            File("file", block)
                            Directory("deep") { File("file", block) }
                        }
                    }
                }
            }
        }
        Directory("Documents") { File("document", block) }
    }

    let home: PurgeFixture

    /// The directories that are deleted.
    var units: Set<FilePath> {
        Set(["app", "other"].flatMap { app in Self.names.map { home(".cache/\(app)/\($0)") } })
    }

    /// An executor whose batches do not end early on a busy machine.
    func executor(_ search: UnitSearch? = nil) -> PurgeExecutor {
        var executor = home.executor(search)
        executor.batchDuration = .seconds(600)
        return executor
    }

    /// Executes a plan of all directories.
    func purge(_ mock: SystemCallMock) throws -> PurgeReport {
        let plan = try home.plan()
        // Makes the journal, whose first writes are not those of a batch.
        try home.executor().finishLeftovers { _ in }
        return try mock.run { try home.execute(plan, executor()) }
    }

    /// Executes a plan of all directories, with something done just before system calls.
    func purge(beforeCall: @escaping (SystemCall) throws -> Void) throws -> PurgeReport {
        let plan = try home.plan()
        try home.executor().finishLeftovers { _ in }
        return try home.execute(plan, executor(), beforeCall: beforeCall)
    }

    /// Whether everything is in a directory that was.
    func isWhole(_ unit: FilePath) -> Bool {
        ["file", "deep/file"].allSatisfy {
            (try? contentsOfFile(unit.appending(FilePath($0).components))) == Array(block.utf8)
        }
    }

    /// The records in the journal, as they would be after a crash.
    func records() throws -> [AsideRecord] {
        let bytes = try contentsOfFile(home.state.appending("journal"))
        let size = PurgeJournal.slotSize
        let contents = [0, 1].compactMap { place in
            JournalContents(Array(bytes.dropFirst(place * size).prefix(size)))
        }
        return contents.max { $0.isOlder(than: $1) }?.records ?? []
    }

    /// The path of a directory that was put aside.
    func asidePath(of unit: FilePath) throws -> FilePath? {
        try records().first { $0.path == unit.bytes }.map { FilePath(bytes: $0.asidePath) }
    }

    func expectNothingAside(sourceLocation: SourceLocation = #_sourceLocation) throws {
        for app in ["app", "other"] {
            try forEachName(in: home(".cache/\(app)")) { name in
                #expect(!AsideName.matches(name), sourceLocation: sourceLocation)
                return true
            }
        }
        #expect(try PurgeJournal(in: home.state).records == [], sourceLocation: sourceLocation)
    }
}

/// Makes a home that holds a tree.
func batchFixture(_ tree: Tree = BatchFixture.tree) throws -> BatchFixture {
    BatchFixture(home: try purgeHome { tree })
}
