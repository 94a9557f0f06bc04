import SystemPackage
import TestSupport
import Testing

@testable import SystemCalls

@Suite("Small files", .timeLimit(.minutes(5)), .cleansUp)
struct SmallFileTests {
    private static let tree = Tree {
        File("config/file", "text")
        Fifo("config/fifo")
        Socket("config/socket")
        Directory("config/directory")
        SymbolicLink("config/link", to: "file")
        SymbolicLink("config/zero", to: "/dev/zero")
        SparseFile("config/sparse", hole: 1 << 40)
        SymbolicLink("elsewhere", to: "config")
        SymbolicLink("out", to: "/etc")
    }

    private func outcome<Result>(of read: () throws -> Result) -> Errno? {
        do {
            _ = try read()
            return nil
        } catch {
            return FileError(error, of: nil).errno
        }
    }

    private static let refusals: [(FilePath, Errno)] = [
        ("config/fifo", .invalidArgument), ("config/socket", .noSuchAddressOrDevice),
        ("config/directory", .isDirectory), ("config/link", .tooManySymbolicLinkLevels),
        ("config/zero", .tooManySymbolicLinkLevels), ("config/sparse", .fileTooLarge),
        ("elsewhere/file", .tooManySymbolicLinkLevels), ("out/passwd", .tooManySymbolicLinkLevels),
        ("/etc/passwd", .improperLink), ("../../etc/passwd", .improperLink),
        ("config/absent", .noSuchFileOrDirectory),
    ]

    @Test(
        "nothing but a regular file, reached without links, is read in a home", arguments: refusals)
    func refusing(path: FilePath, errno: Errno) throws {
        let home = try temporaryDirectory(containing: Self.tree)
        let error = outcome {
            try contentsOfFile(path, below: home, ownedBy: effectiveUser(), limit: 100)
        }
        #expect(error == errno)
    }

    @Test("a home's own files are read, and no others")
    func owners() throws {
        let home = try temporaryDirectory(containing: Self.tree)
        let me = effectiveUser()
        let text = try contentsOfFile("config/file", below: home, ownedBy: me, limit: 4)
        #expect(text == Array("text".utf8))
        let tooLarge = outcome {
            try contentsOfFile("config/file", below: home, ownedBy: me, limit: 3)
        }
        #expect(tooLarge == .fileTooLarge)
        try require(.root)
        let file = home.appending("config/file")
        for (owner, answer) in [(0, nil), (54321, nil), (54322, .permissionDenied)]
            as [(UInt32, Errno?)]
        {
            try tool("chown", "\(owner)", file)
            let foreign = outcome {
                try contentsOfFile("config/file", below: home, ownedBy: 54321, limit: 4)
            }
            #expect(foreign == answer, "\(owner)")
        }
    }

    @Test("a file that is named is read through links, and never waited for")
    func named() throws {
        let base = try temporaryDirectory(containing: Self.tree)
        let linked = try contentsOfFile(base.appending("elsewhere/link"))
        #expect(linked == Array("text".utf8))
        let mounts = try contentsOfFile("/proc/self/mountinfo")
        #expect(!mounts.isEmpty)
        let refusals: [(FilePath, Errno)] = [
            ("fifo", .invalidArgument), ("zero", .invalidArgument),
            ("sparse", .fileTooLarge), ("directory", .isDirectory),
        ]
        for (name, errno) in refusals {
            let path = base.appending("config").pushing(name)
            #expect(outcome { try contentsOfFile(path) } == errno)
        }
        // The kernel tells no size of its own files.
        let limited = outcome {
            try contentsOfFile("/proc/self/mountinfo", limit: 10)
        }
        #expect(limited == .fileTooLarge)
    }
}
