import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Raw extended attributes", .cleansUp)
struct ExtendedAttributeTests {
    @Test("missing is nil, empty is empty, and any bytes come back")
    func values() throws {
        let file = try temporaryFile()
        try #expect(file.extendedAttribute(named: "user.a") == nil)
        try #expect(file.extendedAttributeNames() == [])
        let all = Array(UInt8.min...UInt8.max) + [0, 0]
        for value in [[], [0], all, Array(repeating: 0xFF, count: 3000)] {
            try file.setExtendedAttribute(named: "user.a", to: value)
            try #expect(file.extendedAttribute(named: "user.a") == value)
        }
        try #expect(file.extendedAttributeNames() == ["user.a"])
    }

    @Test("a name that is not UTF-8 is kept")
    func names() throws {
        let name = ExtendedAttributeName(bytes: Array("user.".utf8) + HostileNames.notUTF8.bytes)
        let file = try temporaryFile()
        try file.setExtendedAttribute(named: name, to: [1])
        try #expect(file.extendedAttributeNames() == [name])
        try #expect(file.removeExtendedAttribute(named: name))
        try #expect(file.removeExtendedAttribute(named: name) == false)
    }

    @Test("creating needs absence and replacing presence; a refusal stores nothing")
    func conditions() throws {
        let file = try temporaryFile()
        func set(_ byte: UInt8, _ condition: ExtendedAttributeCondition) -> FileError.Code? {
            code { try file.setExtendedAttribute(named: "user.a", to: [byte], if: condition) }
        }
        #expect(set(1, .present) == .noSuchAttribute)
        try #expect(file.extendedAttribute(named: "user.a") == nil)
        #expect(set(2, .absent) == nil)
        #expect(set(3, .absent) == .attributeExists)
        try #expect(file.extendedAttribute(named: "user.a") == [2])
        #expect(set(4, .present) == nil)
        try #expect(file.extendedAttribute(named: "user.a") == [4])
    }

    @Test("a value that grew between two calls is read with a larger buffer")
    func growth() throws {
        let file = try temporaryDirectory { File("f").attribute("user.a", "value") }.appending("f")
        let mock = SystemCallMock([.getxattr: [.outOfRange], .listxattr: [.outOfRange]])
        try mock.run {
            try #expect(file.extendedAttribute(named: "user.a") == Array("value".utf8))
            try #expect(file.extendedAttributeNames() == ["user.a"])
        }
        #expect(mock.calls[.getxattr] == 2)
        #expect(mock.calls[.listxattr] == 2)
    }

    @Test("a value beyond the kernel's own limit is an error, not an endless loop")
    func endlessGrowth() throws {
        let mock = SystemCallMock([.getxattr: [.outOfRange, .outOfRange, .outOfRange]])
        let thrown = mock.run {
            code { try FilePath("/").extendedAttribute(named: "user.a") }
        }
        #expect(thrown == .tooLarge)
    }

    @Test("marks are found among other attributes, however long the list of names is")
    func amongOthers() throws {
        let root = try temporaryDirectory { File("f").excluded().attribute("user.other", "value") }
        let file = root.appending("f")
        let one = SystemCallMock([:])
        try #expect(one.run { try file.marks() }.isExcludedFromBackup == true)
        #expect(one.calls[.listxattr] == 1 && one.calls[.getxattr] == 1)
        // Names that begin like those of marks, in a list that is longer than what fits on the stack.
        for name in ["user.resval.", "user.resval.isPurgeable2", "user.resval"] {
            try file.setExtendedAttribute(named: ExtendedAttributeName(name), to: [])
        }
        for number in 0..<10 {
            let name = "user.\(number)" + String(repeating: "x", count: 40)
            try file.setExtendedAttribute(named: ExtendedAttributeName(name), to: [])
        }
        let long = SystemCallMock([:])
        let marks = try long.run { try file.marks() }
        #expect(marks == Marks(isExcludedFromBackup: true))
        #expect(long.calls[.listxattr] == 2 && long.calls[.getxattr] == 1)
        // A list that even the largest buffer does not hold: each mark is read by its name.
        for last in [Errno.outOfRange, .argListTooLong] {
            let endless = SystemCallMock([.listxattr: [.outOfRange, last, last]])
            try #expect(endless.run { try file.marks() } == marks)
            #expect(endless.calls[.getxattr] == StoredKey.allCases.count)
        }
    }

    @Test(
        "a mark that cannot be read is unreadable, neither unset nor a value",
        arguments: [Errno.ioError, .noMemory])
    func unreadable(errno: Errno) throws {
        let file = try temporaryDirectory { File("f").excluded().purgeable() }.appending("f")
        let one = SystemCallMock([.getxattr: [errno]])
        try #expect(one.run { try file.mark(for: .isExcludedFromBackup) } == .unreadable(errno))
        let all = SystemCallMock([.getxattr: [errno]])
        let marks = try all.run { try file.marks() }
        let values = [marks[.isExcludedFromBackup], marks[.isPurgeable]]
        #expect(values.contains(.unreadable(errno)) && values.contains(.value(true)))
    }

    @Test("a mark that is too long, and then cannot be read, is unreadable")
    func unreadableLongMark() throws {
        let root = try temporaryDirectory {
            File("f").attribute("user.resval.isPurgeable", "\(1 << 40)")
        }
        let mock = SystemCallMock([.getxattr: [.outOfRange, .ioError]])
        try #expect(
            mock.run { try root.appending("f").mark(for: .isPurgeable) }
                == .unreadable(.ioError))
    }

    @Test(
        "an item may have marks unless all names of its attributes are listed and none is a mark's")
    func mayHaveMarks() throws {
        let root = try temporaryDirectory {
            File("plain").attribute("user.other", "x"); File("marked").excluded()
        }
        let plain = root.appending("plain")
        #expect(!plain.mayHaveMarks())
        #expect(root.appending("marked").mayHaveMarks())
        for errnos in [[Errno.ioError], [.permissionDenied], [.outOfRange, .argListTooLong]] {
            let mock = SystemCallMock([.listxattr: errnos])
            #expect(mock.run { plain.mayHaveMarks() }, "\(errnos)")
        }
    }

    @Test("a file that may not be read has an unreadable mark only where one is listed")
    func denied() throws {
        let root = try temporaryDirectory {
            File("marked").excluded(); File("plain")
        }
        let expected: [(String, Mark)] = [
            ("marked", .unreadable(.permissionDenied)), ("plain", .unset),
        ]
        for (name, mark) in expected {
            let mock = SystemCallMock([.getxattr: [.permissionDenied]])
            try #expect(
                mock.run { try root.appending(name).mark(for: .isExcludedFromBackup) } == mark)
        }
    }

    @Test("a filesystem that answers ENODATA to everything stores no attributes")
    func noAttributesAtAll() throws {
        let file = try temporaryDirectory { File("f").excluded() }.appending("f")
        let setting = SystemCallMock([.setxattr: [.noData]])
        let error = #expect(throws: FileError.self) {
            try setting.run { try file.setValue(true, for: .isPurgeable) }
        }
        #expect(error?.code == .unsupportedFilesystem)
        let listing = SystemCallMock([.listxattr: [.noData, .noData]])
        let (marks, names) = try listing.run {
            (try file.marks(), try file.extendedAttributeNames())
        }
        #expect(marks == .none && names == [])
        let replacing = #expect(throws: FileError.self) {
            try file.setExtendedAttribute(named: "user.a", to: [1], if: .present)
        }
        #expect(replacing?.code == .noSuchAttribute)
    }

    @Test("removing finds nothing where nothing can be stored")
    func removingWithoutAttributes() throws {
        let file: FilePath = "/proc/self/comm"
        try #expect(file.removeValue(for: .isPurgeable) == false)
        try file.apply([
            MarkChange(.isPurgeable, to: nil), MarkChange(.isExcludedFromBackup, to: nil),
        ])
        #expect(throws: FileError.self) {
            try file.apply([
                MarkChange(.isPurgeable, to: nil), MarkChange(.isExcludedFromBackup, to: true),
            ])
        }
    }
}
