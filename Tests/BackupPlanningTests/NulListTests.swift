import BackupPlanning
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("A list of stored items")
struct NulListTests {
    /// The records of a list, and its plan.
    private func list(
        _ sources: [FilePath], relativeTo top: FilePath? = nil
    ) throws -> (records: [[UInt8]], plan: BackupPlan) {
        let planner = BackupPlanner(policy: StoragePolicy(), mounts: try MountTable.current())
        let list = try planner.makeList(for: sources, relativeTo: top, spillingTo: "/tmp")
        var bytes: [UInt8] = []
        try list.forEachPiece { bytes += $0 }
        #expect(bytes.last == 0)
        return (bytes.split(separator: 0).map(Array.init), list.plan)
    }

    private let tree = Tree {
        Directory("a") {
            Directory("source") {
                Directory("d") { File("f") }
                File("d-")
                Directory("excluded") { File("f") }.excluded()
                File("excluded file").excluded()
                File(HostileNames.notUTF8)
            }
            File("beside")
        }
        File("b")
    }

    @Test("has each directory before its contents, and the directories above the SOURCEs once")
    func order() throws {
        try withTemporaryDirectory(containing: tree) { base in
            let sources = [base.pushing("b"), base.pushing("a/source")]
            let hostile = Array("./a/source/".utf8) + HostileNames.notUTF8.bytes
            let names = ["d", "d/f", "d-", "excluded"].map { "./a/source/\($0)" }
            let (records, plan) = try list(sources, relativeTo: base)
            #expect(
                records == ["./a", "./a/source"].map { Array($0.utf8) } + [hostile]
                    + (names + ["./b"]).map { Array($0.utf8) })
            #expect(!plan.isIncomplete)
            let absolute = try list(sources).records
            var above: [[UInt8]] = []
            var directory = base
            while directory != "/" {
                above.insert(directory.bytes, at: 0)
                directory.removeLastComponent()
            }
            #expect(absolute == above + records.map { base.bytes + $0.dropFirst() })
        }
    }

    @Test("does not have the directory that names are relative to, also by another name")
    func relative() throws {
        try withTemporaryDirectory(containing: tree) { base in
            try Tree { SymbolicLink("link", to: "a") }.create(in: base)
            let top = base.pushing("link/source")
            let records = try list([base.pushing("a/source")], relativeTo: top).records
            #expect(records.first == Array("./".utf8) + HostileNames.notUTF8.bytes)
            #expect(records.count == 5)
            let file = base.pushing("b")
            #expect(throws: FileError.self) { try list([file], relativeTo: top) }
        }
    }

    @Test("begins with ./ where names are relative to the root")
    func root() throws {
        try withTemporaryDirectory(containing: tree) { base in
            let source = base.pushing("a")
            let absolute = try list([source]).records
            let relative = try list([source], relativeTo: "/").records
            #expect(relative == absolute.map { Array(".".utf8) + $0 })
        }
    }

    @Test("names what has too long a path, and does not have it")
    func longPaths() throws {
        try withTemporaryDirectory { base in
            let name = FileName(Array(repeating: UInt8(ascii: "n"), count: 255))
            try Tree { NestedDirectories(name, depth: 17) { File("f") } }.create(in: base)
            let (records, plan) = try list([base])
            #expect(plan.isIncomplete)
            #expect(plan.exclusions.map(\.reason) == [.tooLong])
            #expect(records.allSatisfy { $0.count <= 4094 })
            #expect(records.count { $0.starts(with: base.bytes) } == 16)
        }
    }
}
