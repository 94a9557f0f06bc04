import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Moves and replacements that lose nothing", .cleansUp)
struct MovingTests {
    /// Makes a directory `d` with `d/docs/thesis` in a mounted filesystem, and a directory `new`.
    private func treeWithMount() throws -> (root: FilePath, docs: FilePath) {
        let docs = try filesystem(.tmpfs) { File("thesis", "text") }.root
        let root = try temporaryDirectory {
            Directory("d") {
                File("f"); Directory("docs")
            }
            Directory("new") { File("n") }
            File("old")
        }
        let place = root.appending("d/docs")
        try tool("mount", "--bind", docs, place)
        try afterwards { try tool("umount", place) }
        try tool("chmod", "1777", docs)
        return (root, docs)
    }

    @Test("a directory in which a filesystem is mounted is neither replaced nor moved to another")
    func mounts() throws {
        let (root, docs) = try treeWithMount()
        let (directory, new) = (root.appending("d"), root.appending("new"))
        let elsewhere = try filesystem(.tmpfs).root
        for operation in [
            { try directory.replaceItem(with: new) },
            { try root.appending("old").replaceItem(with: new, backup: directory) },
            { try directory.moveItem(to: elsewhere.appending("d")) },
            { try directory.appending("docs").moveItem(to: elsewhere.appending("docs")) },
        ] as [() throws -> Void] {
            let error = #expect(throws: FileError.self) { try operation() }
            #expect(error?.errno == .resourceBusy)
            try #expect(contentsOfFile(docs.appending("thesis")) == Array("text".utf8))
            try #expect(docs.status().permissions == 0o1777)
            try #expect(tool("ls", directory) == "docs\nf")
            try #expect(tool("ls", "-A", elsewhere) == "")
        }
        let parent = try OpenDirectory(at: root)
        #expect(throws: Errno.resourceBusy) { try removeTree("d", in: parent) }
        try #expect(contentsOfFile(docs.appending("thesis")) == Array("text".utf8))
        try #expect(docs.status().permissions == 0o1777)
    }

    @Test("a backup takes the place of an older one, and is nothing that was just put there")
    func backups() throws {
        let root = try temporaryDirectory { File("doc", "1") }
        let (document, backup) = (root.appending("doc"), root.appending("doc.bak"))
        for version in ["2", "3", "4"] {
            try Tree { File("new", version) }.create(in: root)
            try document.replaceItem(with: root.appending("new"), backup: backup)
        }
        try #expect(contentsOfFile(document) == Array("4".utf8))
        try #expect(contentsOfFile(backup) == Array("3".utf8))
        try Tree { File("new", "5") }.create(in: root)
        #expect(
            code {
                try document.replaceItem(with: root.appending("new"), backup: document)
            } == .fileExists)
        try #expect(contentsOfFile(document) == Array("4".utf8))
        try #expect(tool("ls", "-A", root) == "doc\ndoc.bak\nnew")
    }

    #if MOCKING
    /// A program that writes after the copy was made, and before the original is removed.
    @Test(
        "what is written to the original while it is moved to another filesystem stays",
        arguments: [
            "echo late > $0/d/late", "echo more >> $0/d/f", "touch $0/d/sub/late",
            "setfattr -n user.resval.isExcludedFromBackup -v 1 $0/d/f",
            "mv $0/d $0/away; mkdir $0/d; touch $0/d/late",
        ])
    func writtenMeanwhile(script: String) throws {
        let other = try filesystem(.tmpfs).root
        let root = try temporaryDirectory {
            Directory("d") {
                File("f", "text"); Directory("sub") { File("g") }
            }
        }
        let mock = SystemCallMock([:])
        var names = 0
        mock.beforeCall = { [unowned mock] call in
            // The first is the rename across filesystems, the second names the copy.
            guard call == .renameat2 else { return }
            names += 1
            guard names == 2 else { return }
            mock.beforeCall = nil
            #expect(throws: Never.self) { try tool("sh", "-c", script, root) }
        }
        let target = other.appending("d")
        #expect(
            code { try mock.run { try root.appending("d").moveItem(to: target) } } == .changed)
        try #expect(contentsOfFile(target.appending("f")) == Array("text".utf8))
        let left = try tool("find", root, "-type", "f", "-printf", "%f=%s\n")
        #expect(left.contains("late=") || left.contains("f=9") || left.contains("f=4"), "\(left)")
    }
    #endif

    @Test("a file of several names, and one that did not change, moves to another filesystem")
    func moved() throws {
        let other = try filesystem(.tmpfs).root
        let root = try temporaryDirectory {
            Directory("d") {
                File("f", "text"); HardLink("g", to: "d/f"); SymbolicLink("l", to: "f")
                Directory("sub") { File("h") }.permissions(0o500)
            }
        }
        try root.appending("d").moveItem(to: other.appending("d"))
        try #expect(tool("ls", "-A", root) == "")
        try #expect(tool("ls", "-A", other.appending("d")) == "f\ng\nl\nsub")
    }

    /// A placeholder whose content is in a snapshot.
    private func evictedFile() throws -> FilePath {
        let file = try temporaryFile()
        let record = "user.resval.evicted.fedcba9876543210.0123456789abcdef.0.640.5-0"
        try tool("truncate", "--size", "1M", file)
        try tool("setfattr", "-n", record, "-v", "1", file)
        try tool("setfattr", "-n", "user.resval.isPurgeable", "-v", "1", file)
        try tool("touch", "-d", "@5", file)
        try tool("chmod", "0", file)
        return file
    }

    @Test("what replaces an evicted file has its former mode, its marks, and no record")
    func evicted() throws {
        try require(.root)
        let content = Array("new".utf8)
        for replace in [
            { file in try content.withUnsafeBytes { try file.writeFile($0) } },
            { file in
                try Tree { File("new", "new") }.create(in: file.removingLastComponent())
                try file.replaceItem(with: file.removingLastComponent().appending("new"))
            },
        ] as [(FilePath) throws -> Void] {
            let file = try evictedFile()
            try #expect(file.evictionRecord() != nil)
            try replace(file)
            try #expect(file.evictionRecord() == nil)
            try #expect(file.status().permissions == 0o640)
            try #expect(file.isPurgeable == true)
            try #expect(contentsOfFile(file) == content)
        }
    }

    @Test("a mark that cannot be stored on an evicted file is no reason to change its mode")
    func markOfEvicted() throws {
        try require(.root)
        let file = try evictedFile()
        try tool("chown", "-R", "54321", file.removingLastComponent())
        let result = try Command(
            .built("resval"), "set", "excluded=true", file, user: 54321
        ).run()
        #expect(result.exitCode == 2)
        #expect(result.errorText.contains("first: resval-backup download"), "\(result)")
    }
}
