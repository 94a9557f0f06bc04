import CLinux
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite(.cleansUp)
struct RealPathTests {
    @Test("links, dots and double dots are resolved")
    func resolves() throws {
        let root = try temporaryDirectory {
            File("a/b/f")
            SymbolicLink("a/up", to: "..")
            SymbolicLink("relative", to: "a/b")
        }
        try Tree { SymbolicLink("absolute", to: root.appending("relative")) }.create(in: root)
        let real = root.appending("a/b/f")
        try #expect(realPath(of: root.appending("relative/f")) == real)
        try #expect(realPath(of: root.appending("absolute/f")) == real)
        try #expect(realPath(of: root.appending("a/./up/relative/../b/f")) == real)
        try #expect(realPath(of: root.appending("absolute")) == root.appending("a/b"))
    }

    @Test("a link at the end stays when it is not to be followed")
    func keepsLastLink() throws {
        let root = try temporaryDirectory {
            Directory("d") { SymbolicLink("dangling", to: "nowhere") }
            SymbolicLink("to-d", to: "d")
        }
        let link = root.appending("to-d/dangling")
        try #expect(realPath(of: link, followsLast: false) == root.appending("d/dangling"))
        let last = root.appending("to-d")
        try #expect(realPath(of: last, followsLast: false) == last)
    }

    @Test("the root, and double dots above it")
    func root() throws {
        try #expect(realPath(of: "/") == "/")
        try #expect(realPath(of: "/../..") == "/")
        try #expect(realPath(of: "/tmp/..") == "/")
    }

    @Test("a relative path begins at the working directory")
    func relative() throws {
        try #expect(realPath(of: ".") == realPath(of: workingDirectory()))
    }

    @Test("what cannot be resolved is an error by its code")
    func errors() throws {
        let root = try temporaryDirectory {
            File("f")
            SymbolicLink("loop", to: "loop")
            SymbolicLink("dangling", to: "nowhere")
        }
        let rows: [(FilePath, FileError.Code)] = [
            (root.appending("missing"), .noSuchFile), (root.appending("dangling"), .noSuchFile),
            (root.appending("f/x"), .notADirectory), (root.appending("f/."), .notADirectory),
            (root.appending("f/.."), .notADirectory),
            (root.appending("loop"), .symbolicLinkLoop),
            ("", .noSuchFile),
            (root.appending(String(repeating: "x", count: 256)), .nameTooLong),
        ]
        for (path, code) in rows {
            let error = #expect(throws: FileError.self) { try realPath(of: path) }
            #expect(error?.code == code, "\(path)")
            #expect(error?.path == path)
        }
    }

    @Test("names that are not UTF-8 stay as they are")
    func bytes() throws {
        let name: [UInt8] = [0xFF, 0x0A, 0x1B, 0x2D]
        let root = try temporaryDirectory {
            Directory(FileName(name))
            SymbolicLink("link", to: FilePath(bytes: name))
        }
        let path = root.appending(FileName(name))
        try #expect(realPath(of: root.appending("link")) == path)
        try #expect(ancestorChain(of: path).last?.item.path == path)
    }

    @Test("paths beyond PATH_MAX are resolved, and their ancestors read")
    func longPath() throws {
        let name = FileName(Array(repeating: UInt8(ascii: "n"), count: 250))
        let root = try temporaryDirectory {
            NestedDirectories(name, depth: 17)
            SymbolicLink("link", to: FilePath(bytes: name.bytes))
        }
        let path = root.appending(name, times: 17)
        #expect(path.length > 4_096)
        try #expect(realPath(of: path) == path)
        let throughLink = root.appending("link").appending(name, times: 16)
        try #expect(realPath(of: throughLink) == path)
        try path.setValue(true, for: .isPurgeable)
        let chain = try ancestorChain(of: path)
        #expect(chain.count == path.string.split(separator: "/").count + 1)
        #expect(chain.last?.item.marks.isPurgeable == true)
    }

    @Test("no descriptor stays open")
    func descriptors() throws {
        let root = try temporaryDirectory { Directory("a") }
        for _ in 0..<300 {
            _ = try realPath(of: root.appending("a"))
            _ = try ancestorChain(of: root.appending("a"))
            #expect(throws: FileError.self) { try realPath(of: root.appending("a/missing")) }
        }
        // The kernel gives the lowest free number; tests that run meanwhile hold some too.
        let next = try openFile(in: .workingDirectory, root, flags: [.reference, .directory])
        #expect(next.rawValue < 250)
        try closeFile(next)
    }
}
