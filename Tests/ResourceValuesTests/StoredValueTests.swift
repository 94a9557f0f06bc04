import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Values on real files", .cleansUp)
struct StoredValueTests {
    @Test(
        "a value that setfattr stored is read as the format says", arguments: ReadingRules.booleans)
    func foreignWriter(text: String, value: Bool?) throws {
        try require(.tool("setfattr"))
        // ext4 with 4 KiB blocks has no room for more in one attribute.
        let bytes = Array(text.utf8.prefix(3000))
        let file = try temporaryFile()
        let hex = "0x" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let attribute = "user.resval.isExcludedFromBackup"
        try tool("setfattr", "-n", attribute, "-v", bytes.isEmpty ? "" : hex, file)
        let mark = try file.mark(for: .isExcludedFromBackup)
        if let value {
            #expect(mark == .value(.boolean(value)))
            try #expect(file.isExcludedFromBackup == value)
        } else {
            #expect(mark == .malformed(prefix: Array(bytes.prefix(64)), length: bytes.count))
            let error = #expect(throws: FileError.self) {
                try file.value(for: .isExcludedFromBackup)
            }
            #expect(error?.code == .malformedValue)
            #expect(error?.path == file)
            #expect(error?.attribute == "user.resval.isExcludedFromBackup")
        }
        try #expect(file.marks()[.isExcludedFromBackup] == mark)
    }

    @Test("a value is stored as the exact text of the format")
    func writtenText() throws {
        try require(.tool("getfattr"))
        let file = try temporaryFile()
        try file.setValue(true, for: .isExcludedFromBackup)
        try file.setValue(false, for: .isPurgeable)
        try file.setValue(.protection(.completeUnlessOpen), for: .fileProtection)
        let expected = [
            "isExcludedFromBackup": "true", "isPurgeable": "false",
            "fileProtection": "completeUnlessOpen",
        ]
        for (key, text) in expected {
            let name = "user.resval.\(key)"
            let read = try tool("getfattr", "--only-values", "--absolute-names", "-n", name, file)
            #expect(read == text)
        }
    }

    @Test("setting one key leaves the others as they are, malformed ones too")
    func independence() throws {
        let root = try temporaryDirectory {
            File("f").attribute("user.resval.fileProtection", "garbage").purgeable()
        }
        let file = root.appending("f")
        try file.setValue(true, for: .isExcludedFromBackup)
        let marks = try file.marks()
        #expect(marks.isExcludedFromBackup == true)
        #expect(marks.isPurgeable == true)
        #expect(marks[.fileProtection] == .malformed(prefix: Array("garbage".utf8), length: 7))
        #expect(marks.areBroken)
    }

    @Test("a missing file is an error, never an unset value")
    func missingFile() throws {
        let root = try temporaryDirectory()
        let file = root.appending("missing")
        for key in [StoredKey.isPurgeable, .isExcludedFromBackup] {
            #expect(code { try file.value(for: key) } == .noSuchFile)
            #expect(code { try file.setValue(true, for: key) } == .noSuchFile)
            #expect(code { try file.removeValue(for: key) } == .noSuchFile)
        }
        #expect(code { try file.marks() } == .noSuchFile)
        #expect(code { try root.appending("missing/f").marks() } == .noSuchFile)
    }
}
