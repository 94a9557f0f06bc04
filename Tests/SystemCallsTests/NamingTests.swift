import CLinux
import SystemPackage
import TestSupport
import Testing

@testable import SystemCalls

@Suite("A name that nothing may have yet", .cleansUp)
struct NamingTests {
    /// Moves `old` to `new` where the filesystem can neither refuse to replace nor, for some answers, link.
    private func move(
        _ answers: [SystemCall: [Errno?]], in root: FilePath
    ) throws {
        let directory = OwnedDescriptor(try openDirectoryReference(root))
        try SystemCallMock(answers.merging([.renameat2: [.invalidArgument]]) { $1 }).run {
            try renameItem(
                "old", in: directory.descriptor, to: "new", in: directory.descriptor, .absent)
        }
    }

    private static let answers: [[SystemCall: [Errno?]]] = [
        [:], [.linkat: [.notPermitted]], [.linkat: [.notSupported]], [.linkat: [.noFunction]],
    ]

    @Test("is given to a file where renaming cannot refuse to replace", arguments: answers)
    func given(answers: [SystemCall: [Errno?]]) throws {
        let root = try temporaryDirectory { File("old", "text") }
        try move(answers, in: root)
        try #expect(contentsOfFile(root.appending("new")) == Array("text".utf8))
        try #expect(tool("ls", root) == "new")
    }

    @Test("is not taken from what has it", arguments: answers)
    func taken(answers: [SystemCall: [Errno?]]) throws {
        let root = try temporaryDirectory {
            File("old", "text"); File("new", "other")
        }
        #expect(throws: Errno.fileExists) { try move(answers, in: root) }
        try #expect(contentsOfFile(root.appending("new")) == Array("other".utf8))
        try #expect(contentsOfFile(root.appending("old")) == Array("text".utf8))
    }

    @Test("is given to a directory, which can have no second one, unless something has it")
    func directory() throws {
        let root = try temporaryDirectory { Directory("old") { File("file", "text") } }
        try move([:], in: root)
        try #expect(tool("ls", root, root.appending("new")).contains("file"))
        try tool("mkdir", root.appending("old"))
        #expect(throws: Errno.fileExists) { try move([:], in: root) }
    }

    @Test("descriptors that can be opened are counted, and given back")
    func descriptors() throws {
        try requireDescriptors(24)
        let mock = SystemCallMock([.openat: [nil, nil, .tooManyOpenFiles]])
        #expect(throws: Errno.tooManyOpenFiles) { try mock.run { try requireDescriptors(24) } }
        #expect(mock.calls[.close] == 2)
    }
}
