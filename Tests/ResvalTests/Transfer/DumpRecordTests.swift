import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import resval

@Suite("Lines of a dump")
struct DumpRecordTests {
    private func read(_ line: String) throws(DumpError) -> DumpRecord {
        try DumpRecord(line: Array(line.utf8))
    }

    @Test("what is written is read back, whatever the names hold")
    func roundTrip() throws {
        let marks = Marks(
            isExcludedFromBackup: true, isPurgeable: false,
            fileProtection: .completeUnlessOpen)
        var records: [DumpRecord] = [
            .header(root: [0xFF, 0x0A]), .header(root: Array("/a b".utf8)),
            .end(DumpEnd(items: 7, isComplete: false)),
        ]
        for name in HostileNames.all {
            let path = try #require(DumpPath(name.bytes + [UInt8(ascii: "/")] + name.bytes))
            records.append(.item(path, marks))
        }
        for record in records {
            let line = record.line
            #expect(line.last == UInt8(ascii: "\n"))
            #expect(line.count { $0 == UInt8(ascii: "\n") } == 1)
            try #expect(DumpRecord(line: line.dropLast()) == record)
        }
    }

    @Test(
        "a path that could lead out of the root is refused",
        arguments: [
            "/etc/passwd", "..", "a/../../b", "a//b", "a/", "", "./a", "a/.", "../x", #"a\u0000b"#,
        ])
    func unsafePaths(path: String) {
        #expect(throws: DumpError.unsafePath) {
            try read(#"{"path":"\#(path)","isPurgeable":true}"#)
        }
    }

    @Test(
        "a line that no dump has is refused",
        arguments: [
            "", "{}", "[]", "null", #"{"path":"a"}"#, #"{"path":"a","isPurgeable":1}"#,
            #"{"path":"a","isPurgeable":"true"}"#, #"{"path":null,"isPurgeable":true}"#,
            #"{"path":"a","isPurgeable":true} {}"#, #"{"path":"a","isPurgeable":true,"x":1}"#,
            #"{"path":"a","path":"b","isPurgeable":true}"#,
            #"{"path":"a","pathBase64":"Yg==","isPurgeable":true}"#,
            #"{"path":null,"pathBase64":"Yg=","isPurgeable":true}"#,
            #"{"path":"a","fileProtection":"perhaps"}"#,
            #"{"end":false,"items":1,"isComplete":true}"#,
            #"{"end":true,"items":1}"#, #"{"format":"other","version":1,"root":"a"}"#,
            #"{"format":"resval-marks","root":"a"}"#,
        ])
    func malformed(line: String) {
        #expect(throws: DumpError.malformed) { try read(line) }
    }

    @Test("a dump of a later version says so")
    func version() {
        #expect(throws: DumpError.unknownVersion(2)) {
            try read(#"{"format":"resval-marks","version":2,"root":"a"}"#)
        }
    }

    @Test("U+FFFD in an escape is that character, and no lost byte")
    func replacementCharacter() throws {
        let record = try read(#"{"path":"\ufffd","isPurgeable":true}"#)
        let path = try #require(DumpPath([0xEF, 0xBF, 0xBD]))
        #expect(record == .item(path, Marks(isPurgeable: true)))
    }

    @Test("below a root nothing is reached through a link, and names lead nowhere else")
    func beneath() throws {
        let tree = Tree {
            Directory("root") {
                Directory("d") { File("f") }
                SymbolicLink("out", to: "../outside")
                SymbolicLink("file", to: "d/f")
            }
            Directory("outside") { File("secret") }
        }
        try withTemporaryDirectory(containing: tree) { directory in
            let root = try BeneathRoot(directory.appending("root"))
            func item(_ path: String) throws -> OpenedItem {
                try root.item(at: #require(DumpPath(path.utf8)))
            }
            try #expect(
                item("d/f").status.identity == directory.appending("root/d/f").status().identity)
            try #expect(
                item(".").status.identity == directory.appending("root").status().identity)
            #expect(throws: FileError.self) { try item("out/secret") }
            #expect(throws: FileError.self) { try item("out") }
            #expect(throws: FileError.self) { try item("file") }
            #expect(throws: FileError.self) { try item("d/f/x") }
        }
    }
}
