import CLinux
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import Testing

struct RealPathTests {
    @Test("links, dots and double dots are resolved")
    func resolves() throws {
        try withTemporaryDirectory { root in
            try makeDirectories(["a", "b"], in: root)
            try makeFile(root.appending("a/b/f"))
            try makeLink(root.appending("relative"), to: "a/b")
            try makeLink(root.appending("absolute"), to: root.appending("relative"))
            try makeLink(root.appending("a/up"), to: "..")
            let real = root.appending("a/b/f")
            #expect(try realPath(of: root.appending("relative/f")) == real)
            #expect(try realPath(of: root.appending("absolute/f")) == real)
            #expect(try realPath(of: root.appending("a/./up/relative/../b/f")) == real)
            #expect(try realPath(of: root.appending("absolute")) == root.appending("a/b"))
        }
    }

    @Test("a link at the end stays when it is not to be followed")
    func keepsLastLink() throws {
        try withTemporaryDirectory { root in
            try makeDirectories(["d"], in: root)
            try makeLink(root.appending("to-d"), to: "d")
            try makeLink(root.appending("d/dangling"), to: "nowhere")
            let link = root.appending("to-d/dangling")
            #expect(try realPath(of: link, followsLast: false) == root.appending("d/dangling"))
            #expect(
                try realPath(of: root.appending("to-d"), followsLast: false).string.hasSuffix(
                    "to-d"))
        }
    }

    @Test("the root, and double dots above it")
    func root() throws {
        #expect(try realPath(of: "/") == "/")
        #expect(try realPath(of: "/../..") == "/")
        #expect(try realPath(of: "/tmp/..") == "/")
    }

    @Test("a relative path begins at the working directory")
    func relative() throws {
        #expect(try realPath(of: ".") == realPath(of: workingDirectory()))
    }

    @Test("what cannot be resolved is an error by its code")
    func errors() throws {
        try withTemporaryDirectory { root in
            try makeFile(root.appending("f"))
            try makeLink(root.appending("loop"), to: "loop")
            try makeLink(root.appending("dangling"), to: "nowhere")
            let rows: [(FilePath, FileError.Code)] = [
                (root.appending("missing"), .noSuchFile), (root.appending("dangling"), .noSuchFile),
                (root.appending("f/x"), .notADirectory), (root.appending("f/."), .notADirectory),
                (root.appending("f/.."), .notADirectory),
                (root.appending("loop"), .symbolicLinkLoop),
                ("", .noSuchFile),
                (root.appending(String(repeating: "x", count: 256)), .nameTooLong),
            ]
            for (path, code) in rows {
                #expect(throws: FileError.self) { try realPath(of: path) }
                do throws(FileError) {
                    _ = try realPath(of: path)
                } catch {
                    #expect(error.code == code, "\(path)")
                    #expect(error.path == path)
                }
            }
        }
    }

    @Test("names that are not UTF-8 stay as they are")
    func bytes() throws {
        try withTemporaryDirectory { root in
            let name = FilePath(bytes: [0xFF, 0x0A, 0x1B, 0x2D])
            try makeDirectories([name], in: root)
            let path = root.appending(name.components)
            try makeLink(root.appending("link"), to: name)
            #expect(try realPath(of: root.appending("link")) == path)
            #expect(try ancestorChain(of: path).last?.item.path == path)
        }
    }

    @Test("paths beyond PATH_MAX are resolved, and their ancestors read")
    func longPath() throws {
        try withTemporaryDirectory { root in
            let name = FilePath(String(repeating: "n", count: 250))
            let names = Array(repeating: name, count: 17)
            try makeDirectories(names, in: root)
            let below = names.map(\.string).joined(separator: "/")
            let path = FilePath(root.string + "/" + below)
            #expect(path.length > 4_096)
            #expect(try realPath(of: path) == path)
            try makeLink(root.appending("link"), to: name)
            let throughLink = FilePath(
                root.string + "/link" + below.dropFirst(name.length))
            #expect(try realPath(of: throughLink) == path)
            try path.setValue(true, for: .isPurgeable)
            let chain = try ancestorChain(of: path)
            #expect(chain.count == path.string.split(separator: "/").count + 1)
            #expect(chain.last?.item.marks.isPurgeable == .value(true))
        }
    }

    @Test("no descriptor stays open")
    func descriptors() throws {
        try withTemporaryDirectory { root in
            try makeDirectories(["a"], in: root)
            for _ in 0..<300 {
                _ = try realPath(of: root.appending("a"))
                _ = try ancestorChain(of: root.appending("a"))
                #expect(throws: FileError.self) { try realPath(of: root.appending("a/missing")) }
            }
            // The kernel gives the lowest free number; tests that run meanwhile hold some too.
            let next = try openFile(
                in: FileDescriptor(rawValue: AT_FDCWD), root, flags: O_PATH | O_DIRECTORY)
            #expect(next.rawValue < 250)
            try closeFile(next)
        }
    }
}
