import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Changes of several keys", .cleansUp)
struct MarkChangeTests {
    private let changes = [
        MarkChange(.isExcludedFromBackup, to: true), MarkChange(.isPurgeable, to: nil),
        MarkChange(.fileProtection, to: .protection(.complete)),
    ]
    private let before = Marks(isExcludedFromBackup: false, isPurgeable: true)

    private let tree = Tree { File("f").excluded(false).purgeable() }

    @Test("all are made")
    func allMade() throws {
        let root = try temporaryDirectory(containing: tree)
        let file = root.appending("f")
        try file.apply(changes)
        let after = Marks(isExcludedFromBackup: true, fileProtection: .complete)
        try #expect(file.marks() == after)
    }

    #if MOCKING
    // A descriptor opened with O_PATH refuses fsetxattr, so each stored value is two calls: the one
    // that is refused, and the one through /proc.

    @Test("when the last fails, those before are put back", arguments: [Errno.noSpace, .ioError])
    func putBack(errno: Errno) throws {
        let root = try temporaryDirectory(containing: tree)
        let file = root.appending("f")
        let mock = SystemCallMock([.setxattr: [nil, nil, errno]])
        let error = #expect(throws: FileError.self) { try mock.run { try file.apply(changes) } }
        #expect(error?.errno == errno)
        #expect(error?.path == file)
        #expect(error?.attribute == "user.resval.fileProtection")
        try #expect(file.marks() == before)
    }

    @Test("what another program stored meanwhile stays")
    func keepsForeignValue() throws {
        let root = try temporaryDirectory(containing: tree)
        let file = root.appending("f")
        let attribute = StoredKey.isExcludedFromBackup.attribute
        let mock = SystemCallMock([.setxattr: [nil, nil, .noSpace]])
        mock.beforeCall = { [unowned mock] call in
            guard call == .setxattr, mock.calls[.setxattr] == 3 else { return }
            mock.beforeCall = nil
            #expect(throws: Never.self) {
                try tool("setfattr", "-n", "\(attribute)", "-v", "1", file)
            }
        }
        #expect(throws: FileError.self) { try mock.run { try file.apply(changes) } }
        try #expect(file.extendedAttribute(named: attribute) == Array("1".utf8))
        try #expect(file.value(for: .isPurgeable) == true)
        try #expect(file.fileProtection == nil)
    }

    @Test("what cannot be put back is named in the message")
    func cannotPutBack() throws {
        let root = try temporaryDirectory(containing: tree)
        let file = root.appending("f")
        // Behind the failure, isPurgeable is put back and isExcludedFromBackup is not.
        let mock = SystemCallMock([.setxattr: [nil, nil, .noSpace, nil, nil, .ioError]])
        let error = #expect(throws: FileError.self) { try mock.run { try file.apply(changes) } }
        #expect(
            error?.message.hasSuffix("; isExcludedFromBackup stays changed: input/output error")
                == true)
        try #expect(file.value(for: .isPurgeable) == true)
        try #expect(file.value(for: .isExcludedFromBackup) == true)
    }
    #endif

    @Test("an item that is not there is an error before the first change")
    func missingItem() throws {
        let root = try temporaryDirectory()
        let error = #expect(throws: FileError.self) {
            try root.appending("none").apply(changes)
        }
        #expect(error?.code == .noSuchFile)
    }

    @Test("a malformed value that was there before is put back as it was")
    func putsBackGarbage() throws {
        let attribute = StoredKey.isExcludedFromBackup.attribute
        // Blocks of 1 KiB: behind these attributes no room is left for another mark.
        let filler = [UInt8](repeating: 0x66, count: 896)
        let file = try filesystem(.ext4SmallInodes) {
            File("f").attribute(attribute, "junk").attribute("user.filler", filler)
        }.root.appending("f")
        #expect(throws: FileError.self) { try file.apply(changes) }
        try #expect(file.extendedAttribute(named: attribute) == Array("junk".utf8))
        try #expect(file.fileProtection == nil)
    }
}
