import BackupPlanning
import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("A list of stored items", .cleansUp)
struct NulListTests {
    /// The records of a list, and its plan.
    private func list(
        _ sources: [FilePath], relativeTo top: FilePath? = nil
    ) throws -> (records: [[UInt8]], plan: BackupPlan) {
        let planner = BackupPlanner(policy: StoragePolicy(), mounts: try MountTable.current())
        let list = try planner.makeList(for: sources, relativeTo: top)
        var bytes: [UInt8] = []
        list.forEachPiece { bytes += $0 }
        #expect(bytes.last == 0)
        return (bytes.split(separator: 0).map(Array.init), list.plan)
    }

    private let tree = Tree {
        Directory("a/source") {
            File("d/f")
            File("d-")
            Directory("excluded") { File("f") }.excluded()
            File("excluded file").excluded()
            File(HostileNames.notUTF8)
        }
        File("a/beside")
        File("b")
    }

    @Test("has each directory before its contents, and the directories above the SOURCEs once")
    func order() throws {
        let base = try temporaryDirectory(containing: tree)
        let sources = [base.pushing("b"), base.pushing("a/source")]
        let hostile = Array("./a/source/".utf8) + HostileNames.notUTF8.bytes
        let directories = ["d", "d/f", "excluded"].map { "./a/source/\($0)" }
        let (records, plan) = try list(sources, relativeTo: base)
        #expect(
            records
                == ["./b", "./a", "./a/source"].map { Array($0.utf8) }
                + [hostile, Array("./a/source/d-".utf8)]
                + directories.map { Array($0.utf8) })
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

    @Test("has a directory and all that is in it before another whose name only begins alike")
    func similarNames() throws {
        let base = try temporaryDirectory {
            Directory("a") { Directory("b") { File("c") } }
            Directory("a\u{1}") { File("f") }
            Directory("a-b") { File("f") }
            Directory("a.d") { File("x") }
        }
        let records = try list([base], relativeTo: base).records
        let names = records.map { String(decoding: $0.dropFirst(2), as: UTF8.self) }
        #expect(
            names == [
                "a", "a/b", "a/b/c", "a\u{1}", "a\u{1}/f", "a-b", "a-b/f", "a.d", "a.d/x",
            ])
    }

    @Test("has each item of a large directory once")
    func manyFiles() throws {
        let base = try temporaryDirectory()
        try shell(#"cd "$1" && seq 70000 | xargs touch"#, base)
        let records = try list([base], relativeTo: base).records
        let expected = (1...70000).map { "./\($0)" }.sorted()
        #expect(records.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test("has names with every byte that a name can have")
    func bytes() throws {
        let name = FileName((1...255).filter { $0 != UInt8(ascii: "/") })
        let base = try temporaryDirectory { File(name) }
        try #expect(list([base], relativeTo: base).records == [Array("./".utf8) + name.bytes])
    }

    @Test("does not have the directory that names are relative to, also by another name")
    func relative() throws {
        let base = try temporaryDirectory(containing: tree)
        try Tree { SymbolicLink("link", to: "a") }.create(in: base)
        let top = base.pushing("link/source")
        let records = try list([base.pushing("a/source")], relativeTo: top).records
        #expect(records.first == Array("./".utf8) + HostileNames.notUTF8.bytes)
        #expect(records.count == 5)
        let file = base.pushing("b")
        #expect(throws: FileError.self) { try list([file], relativeTo: top) }
    }

    @Test("begins with ./ where names are relative to the root")
    func root() throws {
        let base = try temporaryDirectory(containing: tree)
        let source = base.pushing("a")
        let absolute = try list([source]).records
        let relative = try list([source], relativeTo: "/").records
        #expect(relative == absolute.map { Array(".".utf8) + $0 })
    }
}
