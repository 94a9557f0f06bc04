import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("What keeps a file from being evicted", .cleansUp)
struct GuardTests {
    @Test("two names of one file")
    func hardLink() throws {
        let fixture = try evictionFixture()
        let candidate = try fixture.state.evictableFile(at: fixture.file)
        try tool("ln", fixture.file, fixture.root.appending("twin"))
        expectRefusal(.hardLinked(2)) { try fixture.evict() }
        // Also when the second name came after the look.
        expectRefusal(.hardLinked(2)) { _ = try fixture.evict(candidate) }
        try fixture.expectWhole()
    }

    @Test(
        "another process, or this one, has it open",
        arguments: [FileDescriptor.OpenOptions.readOnly, .writeOnly, .readWrite])
    func open(flags: FileDescriptor.OpenOptions) throws {
        let fixture = try evictionFixture()
        let other = OwnedDescriptor(try openFile(fixture.file, flags: flags))
        expectRefusal(.inUse) { try fixture.evict() }
        try fixture.expectWhole()
        withExtendedLifetime(other) {}
    }

    @Test("another process had it open for a moment only: it is evicted, and brought back")
    func openBriefly() throws {
        try require(.tool("python3"))
        let fixture = try evictionFixture()
        try useBriefly(fixture.file)
        try fixture.evict()
        try useBriefly(fixture.file)
        try fixture.download()
        try fixture.expectWhole()
    }

    @Test("another process has it mapped, and closed")
    func mapped() throws {
        try require(.tool("python3"))
        let fixture = try evictionFixture()
        let script = """
            import mmap, os, subprocess, sys
            file = os.open(sys.argv[1], os.O_RDONLY)
            memory = mmap.mmap(file, 0, prot=mmap.PROT_READ)
            os.close(file)
            sys.exit(subprocess.run(sys.argv[2:], pass_fds=()).returncode)
            """
        let twin = fixture.root.appending("twin")
        try tool("cp", fixture.file, twin)
        let result = try Command(
            "/usr/bin/python3", "-c", script, fixture.file, FilePath.built("test-tool"),
            "evict", fixture.state.path, "evict", fixture.file, twin
        ).run()
        #expect(result.text == "in-use\n")
        #expect(result.exitCode == 1)
        try fixture.expectWhole()
    }

    @Test("the snapshot holds something else")
    func otherContent() throws {
        let fixture = try evictionFixture()
        let candidate = try fixture.state.evictableFile(at: fixture.file)
        var damaged = fixture.content
        damaged[100_000] ^= 1
        expectRefusal(.contentDiffers) {
            _ = try fixture.evict(candidate, content: damaged)
        }
        expectRefusal(.contentDiffers) { _ = try fixture.evict(candidate, content: []) }
        try fixture.expectWhole()
    }

    @Test("another file has its name before it is opened")
    func replacedEarly() throws {
        let fixture = try evictionFixture()
        let candidate = try fixture.state.evictableFile(at: fixture.file)
        try tool("mv", fixture.file, fixture.root.appending("old"))
        try tool("cp", "-p", fixture.root.appending("old"), fixture.file)
        expectRefusal(.changed) { _ = try fixture.evict(candidate) }
        try fixture.expectWhole()
    }

    @Test("a symbolic link stands for it, or for a directory above it")
    func links() throws {
        let fixture = try evictionFixture()
        let candidate = try fixture.state.evictableFile(at: fixture.file)
        let link = fixture.root.appending("link")
        try tool("ln", "-s", "file", link)
        expectRefusal(.notRegular) { _ = try fixture.state.evictableFile(at: link) }
        let moved = FilePath("\(fixture.root)-moved")
        try tool("mv", fixture.root, moved)
        try tool("ln", "-s", moved, fixture.root)
        defer {
            mustWork {
                try tool("rm", fixture.root)
                try tool("mv", moved, fixture.root)
            }
        }
        #expect {
            _ = try fixture.evict(candidate)
        } throws: { error in
            let error = FileError(error, of: fixture.file)
            return error.path == fixture.file && error.errno == .tooManySymbolicLinkLevels
        }
        #expect(try contentsOfFile(moved.appending("file")) == fixture.content)
    }

    @Test(
        "it belongs to another user, or has capabilities, which writing takes away",
        arguments: [
            ("chown 1234", EvictionError.foreignOwner),
            ("setcap cap_net_raw+ep", .capabilities),
        ])
    func owner(change: String, reason: EvictionError) throws {
        try require(.root, .tool("setcap"))
        let fixture = try evictionFixture()
        try shell("\(change) \"$1\"", fixture.file)
        expectRefusal(reason) { try fixture.evict() }
        try fixture.expectWhole()
    }

    @Test("it takes no blocks, or one, which its record may take")
    func nothing() throws {
        let fixture = try evictionFixture()
        for size in ["0", "1M"] {
            let empty = fixture.root.appending("empty")
            try tool("truncate", "-s", size, empty)
            expectRefusal(.nothingToFree) { _ = try fixture.state.evictableFile(at: empty) }
        }
        let small = fixture.root.appending("small")
        try Tree { File("small", [UInt8](repeating: 7, count: 4096)) }.create(in: fixture.root)
        expectRefusal(.nothingToFree) { _ = try fixture.state.evictableFile(at: small) }
    }

    @Test("another eviction or download of it is running, or it is a placeholder already")
    func locked() throws {
        let fixture = try evictionFixture()
        let status = try fixture.file.status()
        var lock = try fixture.state.lock(status.identity)
        expectRefusal(.inUse) { try fixture.evict() }
        try fixture.expectWhole()
        lock = nil
        try fixture.evict()
        lock = try fixture.state.lock(status.identity)
        expectRefusal(.inUse) { try fixture.download() }
        withExtendedLifetime(lock) {}
        lock = nil
        expectRefusal(.alreadyEvicted) { try fixture.evict() }
        try fixture.expectPlaceholder()
    }

    @Test("what a call answers is told as the reason that it is")
    func reasons() {
        for (errno, reason) in [
            (Errno.resourceTemporarilyUnavailable, EvictionError.inUse), (.textFileBusy, .inUse),
            (.noSpace, .noSpace(missing: nil)), (.diskQuotaExceeded, .noSpace(missing: nil)),
            (.notSupported, .unsupportedFilesystem), (.noFunction, .unsupportedFilesystem),
        ] {
            #expect(EvictionError(errno, at: "/f") == reason)
        }
        let other = EvictionError(Errno.ioError, at: "/f")
        #expect(other.name == FileError(Errno.ioError, of: "/f").code.description)
    }

    @Test(
        "it changes, or another file gets its name, while it is hashed",
        arguments: [
            #"ln -f "$1" "$2/twin""#, #"touch -c "$1""#, #"chmod 600 "$1""#,
            #"setfattr -n user.x -v y "$1""#,
            #"if [ -e "$2/new" ]; then mv "$1" "$2/old"; mv "$2/new" "$1"; fi"#,
        ])
    func meanwhile(change: String) throws {
        let fixture = try evictionFixture()
        let (file, root) = (fixture.file, fixture.root)
        try tool("cp", "-p", file, root.appending("new"))
        expectRefusal(.changed) {
            try fixture.evict {
                mustWork { try shell(change, file, root) }
            }
        }
        for name in try tool("ls", root).split(separator: "\n") {
            let path = root.appending(String(name))
            #expect(try contentsOfFile(path) == fixture.content)
            #expect(try path.status().permissions != 0)
            #expect(try path.evictionRecord() == nil)
        }
    }

    @Test("it is opened while it is hashed: the lease is broken, and nothing is punched")
    func openedMeanwhile() throws {
        let fixture = try evictionFixture()
        expectRefusal(.inUse) {
            try fixture.evict {
                // Waits for the lease without O_NONBLOCK.
                #expect(throws: Errno.resourceTemporarilyUnavailable) {
                    try openFile(fixture.file, flags: [.readOnly, .nonBlocking])
                }
            }
        }
        try fixture.expectWhole()
    }

    @Test("its filesystem has no leases, or refuses the punch, at first or at the last moment")
    func unsupported() throws {
        let fixture = try evictionFixture()
        for mock in [
            SystemCallMock([.fcntl: [nil, .invalidArgument]]),
            SystemCallMock([.fallocate: [.notSupported]]),
            SystemCallMock([.fallocate: [nil, nil, .notSupported]]),
        ] {
            expectRefusal(.unsupportedFilesystem) { _ = try mock.run { try fixture.evict() } }
            try fixture.expectWhole()
        }
    }
}
