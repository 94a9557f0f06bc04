import Glibc
import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("resval in trouble", .cleansUp)
struct TroubleTests {
    /// An ordinary user, whatever the password database says.
    private let user: UInt32 = 65534

    @Test("each thing that cannot hold marks has its own message, and the others are done")
    func unsupportedKinds() throws {
        try require(.root)
        let root = try temporaryDirectory {
            Fifo("fifo")
            Socket("socket")
            NullDevice("device")
            SymbolicLink("link", to: "file")
            File("file")
        }
        let way = "cannot have user attributes (mark the directory it is in)"
        // The first of two keys fails, and no second one is stored.
        try expectTranscript(
            """
            $ resval set --no-dereference excluded=true,purgeable=true fifo socket device link \
            /proc/self/status file
            ! resval: fifo: FIFOs \(way)
            ! resval: socket: sockets \(way)
            ! resval: device: device nodes \(way)
            ! resval: link: symbolic links \(way)
            ! resval: /proc/self/status: the filesystem does not store user attributes \
            (keep the file on ext4, xfs, btrfs, or tmpfs of Linux 6.6 or newer)
            [2]
            """, in: root)
        try #expect(root.appending("file").value(for: .isExcludedFromBackup) == true)
    }

    @Test("errors tell an ordinary user why, and what to do")
    func ordinaryUser() throws {
        try require(.root)
        let root = try temporaryDirectory(isShared: true) {
            File("readonly").permissions(0o444).owned(by: user)
            File("foreign")
            File("secret").excluded().permissions(0o600)
            Directory("sticky").permissions(0o1777)
            Directory("closed") { File("inside") }.permissions(0o700)
            File("mine").owned(by: user)
        }
        let set = try resval(
            "set", "excluded=true", "readonly", "foreign", "sticky", "closed/inside", "mine",
            in: root, user: user)
        let ask =
            "(run as the owner, or ask for access to the file and the directories above it)"
        expect(
            set, exits: 2,
            complains: """
                resval: readonly: the file is read-only for its owner \
                (first: chmod u+w)
                resval: foreign: permission denied \(ask)
                resval: sticky: only its owner may store attributes on a sticky directory \
                (run as the owner)
                resval: closed/inside: permission denied \(ask)

                """)
        try #expect(root.appending("mine").value(for: .isExcludedFromBackup) == true)
        expect(
            try resval("get", "excluded", "secret", in: root, user: user), exits: 2,
            complains: "resval: secret: permission denied \(ask)\n")
    }

    @Test("read-only mounts and immutable files are named as such")
    func readOnly() throws {
        try require(.tool("chattr"))
        let root = try filesystem(.ext4) {
            File("file"); File("fixed")
        }.root
        try expectTranscript(
            """
            $ chattr +i fixed
            $ resval set excluded=true fixed file
            ! resval: fixed: the file is immutable (first: chattr -i)
            [2]
            $ chattr -i fixed
            $ mount -o remount,ro .
            $ resval set excluded=false file
            ! resval: file: the filesystem is mounted read-only \
            (remount it writable: mount -o remount,rw)
            [2]
            $ resval get excluded file
            true
            """, in: root)
    }

    @Test("where attribute space ends nothing is half written")
    func noRoomForSecondKey() throws {
        let filesystem = try filesystem(.ext4SmallInodes)
        // Blocks of 1 KiB: this filler leaves room for two of the three marks.
        let filler = [UInt8](repeating: UInt8(ascii: "f"), count: 840)
        try Tree { File("full").attribute("user.filler", filler) }.create(in: filesystem.root)
        let file = filesystem.root.appending("full")
        let result = try resval(
            "set", "excluded=true,purgeable=true,protection=completeWhenUserInactive", "full",
            in: filesystem.root)
        #expect(result.exitCode == 2)
        #expect(result.errorText.hasPrefix("resval: full: no space left for the attribute "))
        try #expect(file.marks().isEmpty)
        try #expect(file.extendedAttribute(named: "user.filler") == filler)
    }

    @Test("a used-up quota is named, and nothing is stored")
    func quota() throws {
        let volume = try directoryWithUsedUpQuota()
        expect(
            try resval("set", "excluded=true,purgeable=true", "f199", in: volume), exits: 2,
            complains: "resval: f199: the disk quota is used up "
                + "(free space or have the quota raised)\n")
        try #expect(volume.appending("f199").marks().isEmpty)
    }

    @Test("set killed at any moment leaves whole marks, and the next set completes them")
    func killed() throws {
        let count = 1000
        let tree = Tree { for index in 0..<count { File("f\(index)") } }
        let state = try temporaryDirectory()
        let root = try temporaryDirectory(containing: tree)
        let timeout = try #require(FilePath.tool("timeout"))
        let files = (0..<count).map { root.appending("f\($0)") }
        var kills = 0
        let environment: [String: String?] = ["XDG_STATE_HOME": state.string]
        for milliseconds in stride(from: 4, through: 40, by: 4) {
            try #expect(
                resval("unset", "all", "-R", ".", in: root, environment: environment)
                    .exitCode
                    == 0)
            let seconds = Double(milliseconds) / 1000
            let result = try Command(
                timeout,
                arguments: [
                    "-s", "KILL", "\(seconds)", FilePath.built("resval"), "set", "-R",
                    "excluded=true,purgeable=true", root,
                ], environment: environment
            ).run()
            guard result.end == .signal(SIGKILL) else { continue }
            kills += 1
            for file in files {
                let marks = try file.marks()
                #expect([nil, true].contains(marks.isExcludedFromBackup))
                // The keys of a file are stored in the order they were given in.
                #expect(marks.isPurgeable == nil || marks.isExcludedFromBackup == true)
            }
        }
        #expect(kills > 0)
        try #expect(
            resval(
                "set", "excluded=true,purgeable=true", "-R", ".", in: root,
                environment: environment
            ).exitCode == 0)
        for file in files {
            let marks = try file.marks()
            #expect(marks.isExcludedFromBackup == true)
            #expect(marks.isPurgeable == true)
        }
    }

    @Test("more names of attributes than the kernel lists hide no answer")
    func manyNames() throws {
        let filesystem = try filesystem(.xfs) { File("f", "text").excluded() }
        let file = filesystem.root.appending("f")
        let padding = String(repeating: "x", count: 240)
        for number in 0..<300 {
            try file.setExtendedAttribute(
                named: ExtendedAttributeName("user.\(number).\(padding)"), to: [])
        }
        let error = #expect(throws: FileError.self) { try file.extendedAttributeNames() }
        #expect(error?.code == .tooLarge)
        let explained = try resval("explain", "--json", "f", in: filesystem.root)
        #expect(explained.errorText == "")
        explained.expect(exits: 0, prints: #""exclusion":{"value":true"#)
        expect(
            try resval("get", "--effective", "excluded", "f", in: filesystem.root), exits: 0,
            prints: "true\n")
        expect(
            try resval("find", "--effective", "--excluded", ".", in: filesystem.root),
            exits: 0, prints: "./f\n")
    }

    @Test("in a user namespace without root a home's caches are caches")
    func userNamespace() throws {
        try require(.root, .tool("unshare"), .tool("setpriv"))
        let root = try temporaryDirectory(isShared: true) {
            Directory("home") { Directory(".cache") { File("f") }.owned(by: 1234) }
                .owned(by: 1234)
        }
        let command = Command(
            try #require(FilePath.tool("unshare")),
            arguments: [
                "--mount", "--propagation", "private", "sh", "-ec",
                """
                mount --bind "$0" /srv
                cd /srv/home
                HOME=/srv/home exec setpriv --reuid 1234 --regid 1234 --clear-groups \
                    unshare --user --map-current-user "$1" get --effective excluded .cache/f
                """, root, FilePath.built("resval"),
            ], in: root)
        expect(try command.run(), exits: 0, prints: "true\n")
    }

    @Test("a mark on a file of an overlay's lower layer says what was copied up")
    func copiedUp() throws {
        try require(.root, .tool("mount"))
        let root = try filesystem(.ext4) {
            Directory("lower") {
                File("single", content(2 << 20))
                Directory("many") {
                    File("a", content(1 << 20)); File("b", "text")
                }
            }
            Directory("upper"); Directory("work"); Directory("merged")
        }.root
        try tool(
            "touch", "-d", "2020-01-01", root.appending("lower/single"),
            root.appending("lower/many/a"), root.appending("lower/many/b"))
        let layers = "lowerdir=\(root)/lower,upperdir=\(root)/upper,workdir=\(root)/work"
        let merged = root.appending("merged")
        try tool("mount", "-t", "overlay", "-o", layers, "overlay", merged)
        defer { _ = try? tool("umount", "-l", merged) }
        let single = try resval("set", "excluded=true", "single", in: merged)
        single.expect(exits: 0, says: "copied up 1 file of a lower layer of an overlay, 2.0 MiB")
        try Tree { File("own", "text") }.create(in: merged)
        // Later than the clock of files may be.
        try tool("sleep", "0.2")
        for name in ["single", "own"] {
            expect(try resval("set", "excluded=true", name, in: merged), exits: 0)
        }
        let many = try resval(
            "set", "-R", "excluded=true", "many", in: merged,
            environment: ["XDG_STATE_HOME": root.string])
        many.expect(exits: 0, says: "copied up 2 files of a lower layer of an overlay, 1.0 MiB")
        let below = try resval("set", "excluded=true", "single", in: root.appending("upper"))
        expect(below, exits: 0)
    }
}
