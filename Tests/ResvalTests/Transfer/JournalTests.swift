import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import CommandSupport
@testable import resval

@Suite("The journal of mass changes", .cleansUp)
struct JournalTests {
    private func journaledBatch(
        in root: FilePath, of command: JournaledCommand
    ) throws -> (ChangeBatch, Outcome) {
        let outcome = Outcome()
        let journal = Journal(at: root.appending("journal"), of: command)
        return (ChangeBatch(try ChangeRun(journal, isJSON: false, outcome)), outcome)
    }

    @Test("a journal is made with its first change, and never over another file")
    func files() throws {
        let root = try temporaryDirectory { File("other", "x") }
        let change = RecordedChange(
            path: Array("/f".utf8),
            identity: PersistentIdentity(FileIdentity(device: 1, inode: 2)),
            mark: .foreign(.apple), old: nil)
        let journal = Journal(at: root.appending("journal"), of: .import)
        #expect(!journal.exists)
        try journal.append([change])
        try journal.append([change])
        let line = MarkLine.change(change).line
        let expected = MarkLine.journal(.import).line + line + line
        try #expect(contentsOfFile(root.appending("journal")) == expected)
        try #expect(root.appending("journal").status().permissions == 0o600)
        let second = Journal(at: root.appending("other"), of: .import)
        #expect(throws: FileError.self) { try second.append([change]) }
        try #expect(contentsOfFile(root.appending("other")) == Array("x".utf8))
    }

    @Test("a mark that was changed after it was read for the journal stays")
    func stale() throws {
        let root = try temporaryDirectory {
            File("f").excluded(false)
            File("g")
        }
        let (batch, outcome) = try journaledBatch(in: root, of: .set)
        let file = root.appending("f")
        for path in [file, root.appending("g")] {
            let change = ItemChange([MarkChange(.isExcludedFromBackup, to: true)])
            _ = batch.change(path, change) {
                ChangeBatch.Paths(shown: path.bytes, absolute: path)
            }
        }
        let name = StoredKey.isExcludedFromBackup.attribute
        try file.setExtendedAttribute(named: name, to: Array("perhaps".utf8))
        batch.finish()
        try #expect(file.extendedAttribute(named: name) == Array("perhaps".utf8))
        try #expect(root.appending("g").value(for: .isExcludedFromBackup) == true)
        #expect(outcome.hasFailures)
    }

    #if MOCKING
    @Test("a journal that has no room for its first change is not left behind")
    func noRoom() throws {
        let root = try temporaryDirectory()
        let journal = Journal(at: root.appending("journal"), of: .set)
        let change = RecordedChange(
            path: Array("/f".utf8), identity: nil, mark: .foreign(.apple), old: nil)
        let mock = SystemCallMock([.write: [.noSpace]])
        #expect(throws: FileError.self) { try mock.run { try journal.append([change]) } }
        #expect(!root.appending("journal").exists)
        try journal.append([change])
    }

    @Test("a mark that another program stores at the last moment stays")
    func latest() throws {
        try require(.tool("setfattr"))
        let root = try temporaryDirectory { File("f").purgeable() }
        let (batch, outcome) = try journaledBatch(in: root, of: .set)
        let file = root.appending("f")
        let changes = [
            MarkChange(.isPurgeable, to: nil),
            MarkChange(.isExcludedFromBackup, to: true),
        ]
        let name = StoredKey.isExcludedFromBackup.attribute
        let mock = SystemCallMock([:])
        mock.beforeCall = { [unowned mock] call in
            guard call == .setxattr else { return }
            mock.beforeCall = nil
            #expect(throws: Never.self) {
                try tool("setfattr", "-n", "\(name)", "-v", "false", file)
            }
        }
        mock.run {
            _ = batch.change(file, ItemChange(changes)) {
                ChangeBatch.Paths(shown: file.bytes, absolute: file)
            }
            batch.finish()
        }
        // All changes of an item are made, or none.
        let marks = try file.marks()
        #expect(marks.isExcludedFromBackup == false)
        #expect(marks.isPurgeable == true)
        #expect(outcome.hasFailures)
    }

    @Test("where a journal cannot be read to its end, what was undone and what was not is counted")
    func unreadable() throws {
        let root = try temporaryDirectory {
            for name in ["a", "b", "c"] as [FileName] { File(name) }
        }
        let files = ["a", "b", "c"].map { root.appending($0) }
        let change = try resval(
            "set", "-R", "purgeable=true", "a", "b", "c", in: root,
            environment: ["XDG_STATE_HOME": root.appending("state").string])
        #expect(change.exitCode == 0, "\(change)")
        let journal = try tool("ls", root.appending("state/resval"))
        let path = root.appending("state/resval").appending(journal)
        func undo(_ mock: SystemCallMock) throws -> (UndoRun, Outcome) {
            let outcome = Outcome()
            let undo = UndoRun(isDryRun: false, isJSON: false, outcome, Progress(.none, ""))
            try mock.run { try undo.run(path) }
            return (undo, outcome)
        }
        let (part, failure) = try undo(SystemCallMock([.pread: [nil, .ioError]]))
        #expect(part.count == 1)
        #expect(part.left == 2)
        #expect(failure.hasFailures)
        try #expect(files.count { try $0.value(for: .isPurgeable) == true } == 2)
        let (rest, success) = try undo(SystemCallMock([:]))
        #expect(rest.count == 2)
        #expect(rest.left == 0)
        #expect(!success.hasFailures)
        try #expect(files.allSatisfy { try $0.value(for: .isPurgeable) == nil })
    }
    #endif

    @Test("a mark that is added is never stored over one that came meanwhile")
    func never() throws {
        let root = try temporaryDirectory {
            File("f").excluded(false).attribute(ForeignAttribute.xdg, "true")
        }
        let (batch, outcome) = try journaledBatch(in: root, of: .import)
        let file = root.appending("f")
        for mark: ChangedMark in [
            .key(MarkChange(.isExcludedFromBackup, to: true)), .foreign(.xdg),
        ] {
            let item = try OpenedItem(file, shownPath: file.bytes, path: file)
            batch.add(ItemChange(marks: [mark], reason: nil), to: item)
        }
        batch.finish()
        #expect(outcome.hasFailures)
        try #expect(file.value(for: .isExcludedFromBackup) == false)
        try #expect(file.extendedAttribute(named: ForeignAttribute.xdg) == Array("true".utf8))
    }
}
