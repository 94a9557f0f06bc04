import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import EffectiveValues

@Suite("What tools made, and what only looks so", .cleansUp)
struct DecoyTests {
    private func marks(_ row: RecreationRow) throws -> (ForeignMarks, FilePath) {
        let root = try temporaryDirectory(containing: row.tree)
        let rules = try RecreationRules(homes: [root.appending("home")])
        let reader = MarkReader([.native, .rules], DerivedMarkReader(rules: rules))
        let path = root.appending(row.path)
        return (try reader.marks(of: path, kind: .directory).foreign, path)
    }

    @Test("what a tool made is found by its proof", arguments: RecreationRow.made)
    func found(_ row: RecreationRow) throws {
        let (marks, path) = try marks(row)
        #expect(marks.excluding == [.rules], "\(path) \(marks)")
        #expect(marks.recreation?.proof == row.proof)
    }

    @Test("what only looks so is not", arguments: RecreationRow.decoys)
    func decoy(_ row: RecreationRow) throws {
        let (marks, path) = try marks(row)
        #expect(marks.excluding.isEmpty, "\(path) \(marks)")
        #expect(marks.recreation == nil)
    }

    @Test("a link to what a tool made is nothing, and marks are read only where they were chosen")
    func others() throws {
        let root = try temporaryDirectory {
            File("p/Cargo.toml")
            SymbolicLink("p/target", to: "../q/target")
            File("q/Cargo.toml")
            Directory("q/target")
        }
        let rules = DerivedMarkReader(rules: try RecreationRules(homes: []))
        let reader = MarkReader([.rules], rules)
        func excludes(_ path: String, _ kind: FileKind, _ reader: MarkReader) throws -> Bool {
            let marks = try reader.marks(of: root.appending(path).withoutFollowing, kind: kind)
            return !marks.foreign.isEmpty
        }
        try #expect(excludes("q/target", .directory, reader))
        try #expect(!excludes("p/target", .symbolicLink, reader))
        try #expect(!excludes("p/target", .directory, reader))
        try #expect(!excludes("q/target", .directory, MarkReader([.rules])))
    }

    @Test("what another user put beside a directory proves nothing", arguments: [0, 4711])
    func foreignProof(user: UInt32) throws {
        try require(.root)
        let root = try temporaryDirectory {
            File("p/Cargo.toml").owned(by: user)
            Directory("p/target").owned(by: 54321)
        }
        let reader = MarkReader([.rules], DerivedMarkReader(rules: try RecreationRules(homes: [])))
        let marks = try reader.marks(of: root.appending("p/target"), kind: .directory)
        #expect(marks.foreign.excluding.isEmpty == (user != 0))
    }

    @Test("a proof that cannot be read is reported, and excludes nothing")
    func unreadable() throws {
        let root = try temporaryDirectory {
            File("p/Cargo.toml")
            Directory("p/target")
        }
        let reader = MarkReader([.rules], DerivedMarkReader(rules: try RecreationRules(homes: [])))
        let mock = SystemCallMock([.readlinkat: [.permissionDenied]])
        let marks = try mock.run {
            try reader.marks(of: root.appending("p/target"), kind: .directory)
        }
        #expect(marks.foreign.excluding.isEmpty)
        #expect(marks.foreign.unreadable == [.rules: .permissionDenied])
    }
}
