#if MOCKING
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// The last step of each operation names a complete item: what appears after the first look is
/// another program's, and stays.
@Suite("An item that appears at the moment of naming", .cleansUp)
struct NamingRaceTests {
    /// The ways to a name: an unnamed file is linked, and a temporary name renamed or, where the
    /// filesystem cannot refuse to replace, linked.
    enum Way: CaseIterable {
        case linked, renamed, renamedByLink

        /// The first `openat` opens the directory, the second asks for an unnamed file.
        var answers: [SystemCall: [Errno?]] {
            switch self {
            case .linked: [:]
            case .renamed: [.openat: [nil, .notSupported]]
            case .renamedByLink:
                [.openat: [nil, .notSupported], .renameat2: [.invalidArgument]]
            }
        }

        /// The call that names.
        var naming: SystemCall { self == .renamed ? .renameat2 : .linkat }
    }

    /// Runs `body`, and creates an item before the first `call` of it.
    private func appearing(
        _ item: FilePath, before call: SystemCall, answers: [SystemCall: [Errno?]] = [:],
        _ body: () throws -> Void
    ) throws {
        let mock = SystemCallMock(answers)
        var hasAppeared = false
        mock.beforeCall = { [unowned mock] met in
            guard met == call, !hasAppeared else { return }
            hasAppeared = true
            mock.beforeCall = nil
            #expect(throws: Never.self) { try Tree { File("new", "other") }.create(in: item) }
        }
        try mock.run(body)
        #expect(hasAppeared)
    }

    @Test("is not overwritten by a file that must be new", arguments: Way.allCases)
    func written(way: Way) throws {
        let root = try temporaryDirectory()
        let file = root.appending("new")
        let content = Array("text".utf8)
        try appearing(root, before: way.naming, answers: way.answers) {
            #expect(
                code {
                    try content.withUnsafeBytes { try file.writeFile($0, replacing: false) }
                } == .fileExists)
        }
        try #expect(contentsOfFile(file) == Array("other".utf8))
        try #expect(tool("ls", "-A", root) == "new")
    }

    @Test("is replaced by a file that may replace", arguments: Way.allCases)
    func replaced(way: Way) throws {
        let root = try temporaryDirectory()
        let file = root.appending("new")
        let content = Array("text".utf8)
        try appearing(root, before: way.naming, answers: way.answers) {
            try content.withUnsafeBytes { try file.writeFile($0) }
        }
        try #expect(contentsOfFile(file) == content)
        try #expect(tool("ls", "-A", root) == "new")
    }

    @Test("is not overwritten by a copy or by what is moved, which stays")
    func copiedAndMoved() throws {
        let tree = Tree {
            File("file", "text"); Directory("directory") { File("f", "text") }
            SymbolicLink("link", to: "file")
        }
        let operations: [(FileName, SystemCall, (FilePath, FilePath) throws -> Void)] = [
            ("file", .linkat, { try $0.copyItem(to: $1) }),
            ("directory", .renameat2, { try $0.copyItem(to: $1) }),
            ("link", .symlinkat, { try $0.copyItem(to: $1) }),
            ("file", .renameat2, { try $0.moveItem(to: $1) }),
            ("directory", .renameat2, { try $0.moveItem(to: $1) }),
            ("link", .renameat2, { try $0.moveItem(to: $1) }),
        ]
        for (name, call, operation) in operations {
            let root = try temporaryDirectory(containing: tree)
            let (item, new) = (root.appending(name), root.appending("new"))
            try appearing(root, before: call) {
                #expect(code { try operation(item, new) } == .fileExists, "\(name) \(call)")
            }
            try #expect(contentsOfFile(new) == Array("other".utf8), "\(name) \(call)")
            try #expect(tool("ls", "-A", root) == "directory\nfile\nlink\nnew")
        }
    }

    @Test("is not overwritten by a new directory")
    func directory() throws {
        let root = try temporaryDirectory()
        let new = root.appending("new")
        let mock = SystemCallMock([:])
        mock.beforeCall = { [unowned mock] call in
            guard call == .renameat2 else { return }
            mock.beforeCall = nil
            // An empty directory, which rename(2) alone would replace.
            #expect(throws: Never.self) { try tool("mkdir", "--mode", "0711", new) }
        }
        #expect(code { try mock.run { try new.makeDirectory() } } == .fileExists)
        try #expect(new.status().permissions == 0o711)
        try #expect(tool("ls", "-A", root) == "new")
    }
}
#endif
