import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import CommandSupport
@testable import resval

@Suite("The journal of import and export")
struct JournalTests {
    private let changes: [RecordedChange] =
        [.native(true), .native(false), .apple, .xdg(true), .xdg(false), .nodump].map {
            .written($0)
        } + [
            .made(MarkChange(.isPurgeable, to: true), old: nil),
            .made(MarkChange(.isPurgeable, to: nil), old: Array("perhaps\n".utf8)),
            .made(MarkChange(.isExcludedFromBackup, to: false), old: [0xFF, 0]),
            .made(MarkChange(.fileProtection, to: .protection(.complete)), old: []),
        ]

    private let identities = [
        PersistentIdentity(FileIdentity(device: 0xFE01, inode: 1 << 40)),
        PersistentIdentity(
            filesystem: .named(Array("UUID=1".utf8)), inode: .max,
            creationTime: FileTime(seconds: -5, nanoseconds: 999_999_999)),
        PersistentIdentity(filesystem: .named([0xFF, 0x0A]), inode: 0, creationTime: nil),
    ]

    @Test("an entry is read back as it was written, whatever the path holds")
    func entries() throws {
        for name in HostileNames.all {
            for change in changes {
                for identity in identities {
                    let entry = JournalEntry(
                        path: FilePath("/directory").appending(name), identity: identity,
                        change: change
                    )
                    try #expect(JournalEntry(line: entry.line[...]) == entry)
                }
            }
        }
    }

    @Test(
        "a line that asks for anything else is refused",
        arguments: [
            #"{"path":"/f","device":1,"inode":2,"mark":"native","old":null,"new":"perhaps"}"#,
            #"{"path":"/f","device":1,"inode":2,"mark":"cachedir","old":null,"new":"set"}"#,
            #"{"path":"/f","device":1,"inode":2,"mark":"native","old":"true","new":"true"}"#,
            #"{"path":"f","device":1,"inode":2,"mark":"native","old":null,"new":"true"}"#,
            #"{"path":"/f","device":-1,"inode":2,"mark":"native","old":null,"new":"true"}"#,
            #"{"path":"/f","inode":2,"mark":"native","old":null,"new":"true"}"#,
            #"{"path":"/f","device":1,"inode":2,"mark":"native","old":null,"new":"true","x":1}"#,
            #"{"path":"/f","device":1,"filesystem":"x","inode":2,"mark":"native","old":null,"new":"true"}"#,
            #"{"path":"/f","device":1,"inode":2,"born":1,"mark":"native","old":null,"new":"true"}"#,
            #"{"path":"/f","device":1,"inode":2,"mark":"isPurgeable","old":null,"new":"yes"}"#,
            #"{"path":"/f","device":1,"inode":2,"mark":"isPurgeable","old":null,"new":null}"#,
            #"{"path":"/f","device":1,"inode":2,"mark":"isPurgeable","old":"true","new":"true"}"#,
            #"{"path":"/f","device":1,"inode":2,"mark":"fileSize","old":null,"new":"1"}"#,
            "", "{}",
        ])
    func refused(line: String) {
        #expect(throws: (any Error).self) { try JournalEntry(line: Array(line.utf8)[...]) }
    }

    @Test("a journal is made with its first entry, and never over another file")
    func files() throws {
        try withTemporaryDirectory(containing: Tree { File("other", "x") }) { root in
            let entry = JournalEntry(
                path: "/f", identity: PersistentIdentity(FileIdentity(device: 1, inode: 2)),
                change: .written(.native(true)))
            let journal = Journal(at: root.appending("journal"), of: .import)
            #expect(!journal.exists)
            try journal.append([entry])
            try journal.append([entry])
            let expected = JournalHeader(command: .import).line + entry.line + entry.line
            try #expect(contentsOfFile(root.appending("journal")) == expected)
            try #expect(root.appending("journal").status().permissions == 0o600)
            let second = Journal(at: root.appending("other"), of: .import)
            #expect(throws: FileError.self) { try second.append([entry]) }
            try #expect(contentsOfFile(root.appending("other")) == Array("x".utf8))
        }
    }

    @Test("a mark that was changed after it was read for the journal stays")
    func stale() throws {
        let tree = Tree {
            File("f").excluded(false)
            File("g")
        }
        try withTemporaryDirectory(containing: tree) { root in
            let outcome = Outcome()
            let run = ChangeRun(
                .set, Journal(at: root.appending("journal"), of: .set), isDryRun: false,
                isJSON: false, isQuiet: true, mostOpenItems: 10, outcome)
            let batch = ChangeBatch(run) { _ in }
            let file = root.appending("f")
            for path in [file, root.appending("g")] {
                let change = ItemChange(changes: [MarkChange(.isExcludedFromBackup, to: true)])
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
    }

    #if MOCKING
    @Test("a mark that another program stores at the last moment stays")
    func latest() throws {
        try require(.tool("setfattr"))
        try withTemporaryDirectory(containing: Tree { File("f").purgeable() }) { root in
            let outcome = Outcome()
            let run = ChangeRun(
                .set, Journal(at: root.appending("journal"), of: .set), isDryRun: false,
                isJSON: false, isQuiet: true, mostOpenItems: 10, outcome)
            let batch = ChangeBatch(run) { _ in }
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
                _ = batch.change(file, ItemChange(changes: changes)) {
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
    }

    @Test("where a journal cannot be read to its end, what was undone and what was not is counted")
    func unreadable() throws {
        let tree = Tree { for name in ["a", "b", "c"] as [FileName] { File(name) } }
        try withTemporaryDirectory(containing: tree) { root in
            let files = ["a", "b", "c"].map { root.appending($0) }
            let change = try resval(
                "set", "-R", "purgeable=true", "a", "b", "c", in: root,
                environment: ["XDG_STATE_HOME": root.appending("state").string])
            #expect(change.exitCode == 0, "\(change)")
            let journal = try tool("ls", root.appending("state/resval"))
            let path = root.appending("state/resval").appending(journal)
            func undo(_ mock: SystemCallMock) throws -> (UndoRun, Outcome) {
                let outcome = Outcome()
                let undo = UndoRun(
                    .set, isDryRun: false, isJSON: false, isQuiet: true, isConfirmed: true, outcome,
                    Progress(.none, ""))
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
    }
    #endif

    @Test("a mark is never stored over one that came meanwhile")
    func never() throws {
        let tree = Tree { File("f").excluded(false) }
        try withTemporaryDirectory(containing: tree) { root in
            let item = try OpenedItem(root.appending("f"), shownPath: [], path: "/f")
            #expect(throws: FileError.self) {
                try WrittenMark.native(true).store(on: item.location)
            }
            try #expect(root.appending("f").value(for: .isExcludedFromBackup) == false)
        }
    }
}
