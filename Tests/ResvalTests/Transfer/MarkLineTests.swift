import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import resval

@Suite("Lines of journals and of saved marks", .cleansUp)
struct MarkLineTests {
    private let marks: [ChangedMark] =
        ForeignMark.all.map { .foreign($0) } + [
            .key(MarkChange(.isPurgeable, to: true)),
            .key(MarkChange(.isPurgeable, to: nil)),
            .key(MarkChange(.isExcludedFromBackup, to: false)),
            .key(MarkChange(.fileProtection, to: .protection(.complete))),
        ]

    private let identities = [
        PersistentIdentity(FileIdentity(device: 0xFE01, inode: 1 << 40)),
        PersistentIdentity(
            filesystem: .named(Array("UUID=1".utf8)), inode: .max,
            creationTime: FileTime(seconds: -5, nanoseconds: 999_999_999)),
        PersistentIdentity(filesystem: .named([0xFF, 0x0A]), inode: 0, creationTime: nil), nil,
    ]

    @Test("what is written is read back, whatever the names hold")
    func roundTrip() throws {
        var lines: [MarkLine] = [
            .marks(root: [0xFF, 0x0A]), .marks(root: Array("/a b".utf8)), .journal(.import),
            .end(marks: 7, isComplete: false),
        ]
        for name in HostileNames.all {
            for mark in marks {
                for old in [nil, Array("perhaps\n".utf8), [0xFF, 0], []] {
                    if case .foreign = mark, old != nil { continue }
                    if old == nil, mark.bytes == nil { continue }
                    for identity in identities {
                        lines.append(
                            .change(
                                RecordedChange(
                                    path: name.bytes, identity: identity, mark: mark, old: old)))
                    }
                }
            }
        }
        for line in lines {
            let bytes = line.line
            #expect(bytes.last == UInt8(ascii: "\n"))
            #expect(bytes.count { $0 == UInt8(ascii: "\n") } == 1)
            #expect(MarkLine(bytes.dropLast()) == line)
        }
    }

    @Test(
        "a line that asks for anything else is refused",
        arguments: [
            #"{"path":"/f","mark":"native","old":null,"new":"true"}"#,
            #"{"path":"/f","mark":"cachedir","old":null,"new":"set"}"#,
            #"{"path":"/f","mark":"xdg","old":"true","new":"false"}"#,
            #"{"path":"/f","mark":"xdg","old":null,"new":"perhaps"}"#,
            #"{"path":"/f","mark":"xdg","old":"true","new":null}"#,
            #"{"path":"/f","mark":"isPurgeable","old":null,"new":"yes"}"#,
            #"{"path":"/f","mark":"isPurgeable","old":null,"new":null}"#,
            #"{"path":"/f","mark":"isPurgeable","old":"true","new":"true"}"#,
            #"{"path":"/f","mark":"isPurgeable","old":null}"#,
            #"{"path":"/f","mark":"isPurgeable","new":"true"}"#,
            #"{"path":"/f","mark":"fileSize","old":null,"new":"1"}"#,
            #"{"path":"","mark":"isPurgeable","old":null,"new":"true"}"#,
            #"{"path":"a\u0000b","mark":"isPurgeable","old":null,"new":"true"}"#,
            #"{"path":null,"mark":"isPurgeable","old":null,"new":"true"}"#,
            #"{"path":null,"pathBase64":"Yg=","mark":"isPurgeable","old":null,"new":"true"}"#,
            #"{"path":"a","pathBase64":"Yg==","mark":"isPurgeable","old":null,"new":"true"}"#,
            #"{"path":"a","path":"b","mark":"isPurgeable","old":null,"new":"true"}"#,
            #"{"path":"/f","device":-1,"inode":2,"mark":"xdg","old":null,"new":"true"}"#,
            #"{"path":"/f","inode":2,"mark":"xdg","old":null,"new":"true"}"#,
            #"{"path":"/f","device":2,"mark":"xdg","old":null,"new":"true"}"#,
            #"{"path":"/f","device":1,"inode":2,"mark":"xdg","old":null,"new":"true","x":1}"#,
            #"{"path":"/f","device":1,"filesystem":"x","inode":2,"mark":"xdg","old":null,"new":"true"}"#,
            #"{"path":"/f","device":1,"inode":2,"born":1,"mark":"xdg","old":null,"new":"true"}"#,
            #"{"path":"/f","mark":"xdg","old":null,"new":"true"} {}"#,
            #"{"path":"/f","mark":"xdg","old":null,"new":"true","root":"/"}"#,
            #"{"end":false,"marks":1,"isComplete":true}"#, #"{"end":true,"marks":1}"#,
            #"{"format":"other","version":1,"root":"a"}"#, #"{"format":"resval-marks","root":"a"}"#,
            #"{"format":"resval-marks","version":2,"root":"a"}"#,
            #"{"format":"resval-marks","version":1,"command":"set"}"#,
            #"{"format":"resval-journal","version":1,"root":"a"}"#,
            #"{"format":"resval-journal","version":1,"command":"rm"}"#,
            "", "{}", "[]", "null",
        ])
    func refused(line: String) {
        #expect(MarkLine(Array(line.utf8)) == nil)
    }

    @Test("U+FFFD in an escape is that character, and no lost byte")
    func replacementCharacter() throws {
        let line = #"{"path":"\ufffd","mark":"isPurgeable","old":null,"new":"true"}"#
        guard case .change(let change)? = MarkLine(Array(line.utf8)) else {
            Issue.record("not a change")
            return
        }
        #expect(change.path == [0xEF, 0xBF, 0xBD])
    }

    @Test(
        "a path that could lead out of the root is refused",
        arguments: [
            "/etc/passwd", "..", "a/../../b", "a//b", "a/", "", "./a", "a/.", "../x", "a\0b",
        ])
    func unsafePaths(path: String) throws {
        let directory = try temporaryDirectory()
        let root = try BeneathRoot(directory)
        let error = #expect(throws: FileError.self) { try root.item(at: Array(path.utf8)) }
        #expect(error?.code == .unsafePath)
    }

    @Test("below a root nothing is reached through a link, and names lead nowhere else")
    func beneath() throws {
        let directory = try temporaryDirectory {
            File("root/d/f")
            SymbolicLink("root/out", to: "../outside")
            SymbolicLink("root/file", to: "d/f")
            Directory("outside") { File("secret") }
        }
        let root = try BeneathRoot(directory.appending("root"))
        func item(_ path: String) throws -> OpenedItem { try root.item(at: Array(path.utf8)) }
        try #expect(
            item("d/f").status.identity == directory.appending("root/d/f").status().identity)
        try #expect(item(".").status.identity == directory.appending("root").status().identity)
        #expect(throws: FileError.self) { try item("out/secret") }
        #expect(throws: FileError.self) { try item("out") }
        #expect(throws: FileError.self) { try item("file") }
        #expect(throws: FileError.self) { try item("d/f/x") }
    }
}
