import SystemPackage
import TestSupport
import Testing

@testable import SystemCalls

/// Files that are trusted because of their owner, which proves nothing where others chose the file.
@Suite("Files that are trusted because of their owner", .cleansUp)
struct TrustedFileTests {
    private let tree = Tree {
        Directory("own") { File("file", "text") }
        Directory("team") {
            SymbolicLink("link", to: "../own/file")
            File("file", "text")
        }
        SymbolicLink("away", to: "team")
    }

    /// Why a file is not opened; nil when it is.
    private func refusal(_ path: FilePath) -> FileError.Code? {
        code { _ = try openTrustedFile(path) }
    }

    @Test("a link is followed only where nobody else can change the way")
    func links() throws {
        try require(.root)
        let root = try temporaryDirectory(containing: tree)
        let (team, link) = (root.appending("team"), root.appending("team/link"))
        #expect(refusal(link) == nil)
        #expect(refusal(root.appending("away/../team/./link")) == nil)
        for (change, isRefused) in [
            (["chown", "1234"], true), (["chown", "0"], false), (["chmod", "777"], true),
            (["chmod", "1777"], false), (["chmod", "775"], false), (["chgrp", "1"], true),
            (["setfacl", "-m", "u:1234:rwx"], true),
        ] {
            if change[0] == "setfacl" {
                guard FilePath.tool("setfacl") != nil else { continue }
                try tool("chgrp", "0", team)
            }
            try tool(change[0], arguments: Array(change.dropFirst()) + [team.string])
            #expect(refusal(link) == (isRefused ? .unsafePath : nil), "\(change)")
            // Without a link it is for the caller to look at the owner.
            #expect(refusal(team.appending("file")) == nil, "\(change)")
            // The link itself is the user's, and leads through such a directory.
            #expect(
                refusal(root.appending("away/file")) == (isRefused ? .unsafePath : nil),
                "\(change)")
        }
    }

    @Test("a link that another user made in a sticky directory is not followed")
    func sticky() throws {
        try require(.root)
        let root = try temporaryDirectory(containing: tree)
        try tool("chmod", "1777", root.appending("team"))
        #expect(refusal(root.appending("team/link")) == nil)
        try tool("chown", "-h", "1234", root.appending("team/link"))
        #expect(refusal(root.appending("team/link")) == .unsafePath)
    }

    @Test("what the kernel makes up is refused, however it is reached")
    func kernel() throws {
        let root = try temporaryDirectory(
            containing: Tree { SymbolicLink("l", to: "/proc/self/cmdline") }
        )
        for path in ["/proc/self/cmdline", "/sys/kernel/mm/transparent_hugepage/enabled"] {
            guard (try? FilePath(path).status()) != nil else { continue }
            #expect(refusal(FilePath(path)) == .unsafePath, "\(path)")
        }
        #expect(refusal(root.appending("l")) == .unsafePath)
    }

    @Test("what is missing or no file is an error as always")
    func others() throws {
        let root = try temporaryDirectory {
            SymbolicLink("loop", to: "loop"); SymbolicLink("nowhere", to: "none")
            SymbolicLink("root", to: "/"); File("f")
        }
        for name in ["none", "none/f", "nowhere"] {
            #expect(refusal(root.appending(name)) == .noSuchFile, "\(name)")
        }
        #expect(refusal(root.appending("f/x")) == .notADirectory)
        #expect(refusal(root.appending("loop")) == .symbolicLinkLoop)
        // A directory opens, and cannot be read.
        #expect(refusal(root.appending("root")) == nil)
    }

    @Test("state is not reached through a link of another user, and never in /proc")
    func state() throws {
        try require(.root)
        let root = try temporaryDirectory {
            Directory("own") { Directory("resval") { File("file", "text").permissions(0o600) } }
            Directory("home") { SymbolicLink("state", to: "../own") }
        }
        let file = root.appending("home/state/resval/file")
        #expect(code { try contentsOfStateFile(file, limit: 9) } == nil)
        try tool("chown", "1234", root.appending("home"))
        #expect(code { try contentsOfStateFile(file, limit: 9) } == .unsafePath)
    }
}
