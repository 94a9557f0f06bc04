import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("resval audit", .cleansUp)
struct AuditTests {
    @Test("purgeable items that no purge deletes and classes that nothing enforces are found")
    func unreachable() throws {
        let tree = Tree {
            Directory("renders") { File("frame") }.purgeable()
            Directory("Documents") { Directory("old") { File("a") }.purgeable() }
            File("shared").purgeable().permissions(0o666)
            Directory("half") { File("pin").purgeable(false) }.purgeable()
            Directory("clone") { Directory(".git") }.purgeable()
            Directory("letters").protection(.complete)
            Directory("open").protection(.none)
        }
        let home = try filesystem(.ext4) { Directory("home") { tree } }.root.appending("home")
        let result = try audit(home, in: home)
        // Sizes decide the order, and depend on the filesystem.
        let lines = auditText(result, home).split(separator: "\n").map(String.init)
        let expected = [
            "HOME/letters: unenforced: its class is complete: nothing enforces the class, and the "
                + "volume is not encrypted",
            "HOME/Documents/old: unreachable: purgeable, but it is or contains a protected "
                + "directory",
            "            resval unset isPurgeable HOME/Documents/old",
            "HOME/half: unreachable: purgeable, but something in it is pinned, and it is deleted "
                + "whole or not at all",
            "            resval unset isPurgeable HOME/half",
            "HOME/clone: unreachable: purgeable, but it looks like a cache but isn't: a "
                + "repository of Git",
            "            resval unset isPurgeable HOME/clone",
            "HOME/shared: unreachable: purgeable, but its mark is not trusted: other users can "
                + "write to it",
            "            chmod go-w HOME/shared",
            "total: 5 findings",
        ]
        #expect(lines.sorted() == expected.sorted(), "\(result)")
        #expect(result.exitCode == 1)
        #expect(result.errorText == "")
    }

    @Test("on a filesystem in memory purgeable items are found, and classes are not")
    func inMemory() throws {
        let home = try filesystem(.tmpfs) {
            File("a").purgeable(); File("b").protection(.complete)
        }.root
        expect(
            try audit(home, in: home), in: home,
            finds: [
                "HOME/a: unreachable: purgeable, but nothing is deleted here: it is in memory "
                    + "(tmpfs), where files take no disk space",
                "            resval unset isPurgeable HOME/a",
            ])
    }

    @Test("evicted files are found if it is not known where their content is")
    func lostContent() throws {
        let record: ExtendedAttributeName =
            "user.resval.evicted.0123456789abcdef.fedcba9876543210.0.644.1234567890-0"
        let home = try auditedHome {
            File("away").attribute(record, "")
            File("stranger")
            File("whole", "text").attribute(record, "")
        }
        for name in ["away", "stranger"] {
            try tool("truncate", "--size", "1M", home.appending(name))
            try tool("touch", "-d", "@1234567890", home.appending(name))
            try tool("chmod", "0", home.appending(name))
        }
        let stranger = [
            "HOME/stranger: lost-content: it looks evicted, and has no record of where its "
                + "content is", "            resval-backup evict --list HOME/stranger",
        ]
        func away(_ place: String) -> [String] {
            [
                "HOME/away: lost-content: its content is in snapshot fedcba98 of repository "
                    + "01234567, \(place)", "            resval-backup evict --list HOME/away",
            ]
        }
        expect(
            try audit(home, in: home), in: home,
            finds: away("and where that is is not known here") + stranger)
        expect(
            try audit(home, in: home, environment: ["RESTIC_REPOSITORY": "/srv/backup"]),
            in: home, finds: stranger)
        try Tree {
            Directory(".local/state/resval") {
                Directory("evicted") {
                    File("repository-0123456789abcdef", "\(home)/repository")
                        .permissions(0o600)
                }.permissions(0o700)
            }.permissions(0o700)
        }.create(in: home)
        expect(
            try audit(home, in: home), in: home,
            finds: away("which does not exist (HOME/repository)") + stranger)
        try Tree { Directory("repository") }.create(in: home)
        expect(try audit(home, in: home), in: home, finds: stranger)
    }

    @Test("what an overlay shows again is looked at where it is without it")
    func overlay() throws {
        let overlay = try filesystem(.overlayfs)
        try Tree { File("core", content(100_000)) }.create(in: overlay.root)
        let home = overlay.root.removingLastComponent()
        expect(
            try audit("--larger-than", "60K", home, in: home), in: home,
            finds: [
                "HOME/upper/core: large: backups include it, and nothing says that they should",
                "            resval exclude HOME/upper/core",
            ])
    }

    @Test("what a bind mount shows of an excluded directory is in the backup, and is looked at")
    func bound() throws {
        try require(.root)
        let home = try auditedHome {
            Directory("data") { Directory("work") { File("core", content(100_000)) } }.excluded()
            Directory("work")
        }
        let mount = home.appending("work")
        try afterwards { try tool("umount", mount) }
        try tool("mount", "--bind", home.appending("data/work"), mount)
        expect(
            try audit("--larger-than", "60K", home, in: home), in: home,
            finds: [
                "HOME/work/core: large: backups include it, and nothing says that they should",
                "            resval exclude HOME/work/core",
            ])
    }

    @Test("hostile names change neither terminal nor lines, and the commands work when pasted")
    func hostileNames() throws {
        let home = try auditedHome {
            for name in HostileNames.all {
                File(name).attribute(StoredKey.isPurgeable.attribute, "x")
            }
        }
        let count = HostileNames.all.count
        let result = try audit(home, in: home)
        #expect(result.exitCode == 1)
        #expect(result.output.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A })
        let lines = result.text.split(separator: "\n")
        #expect(lines.count == 2 * count + 1)
        let programs = FilePath.built("resval").removingLastComponent()
        for line in lines where line.hasPrefix("            ") {
            try Command(
                "/bin/bash", "-c", String(line.drop { $0 == " " }),
                environment: ["PATH": "\(programs):/usr/bin:/bin", "HOME": home.string]
            ).runSuccessfully()
        }
        expect(try audit(home, in: home), in: home, finds: [])
    }

    @Test("what cannot be read makes the exit code 2, and the rest is looked at")
    func unreadable() throws {
        try require(.root, .tool("setpriv"))
        let home = try auditedHome {
            Directory("closed") { File("a") }.permissions(0)
            File("large", content(100_000))
        }
        let result = try audit("--larger-than", "1K", home, "nowhere", in: home, user: 65534)
        #expect(
            auditText(result, home) == """
                HOME/large: large: backups include it, and nothing says that they should
                            resval exclude HOME/large
                total: 1 finding

                """)
        #expect(
            result.errorText.split(separator: "\n").map(String.init).sorted() == [
                "resval: \(home)/closed: cannot look inside this directory: permission denied "
                    + "(run as the owner, or ask for access to the file and the directories "
                    + "above it)",
                "resval: nowhere: no such file or directory",
            ])
        #expect(result.exitCode == 2)
    }

    @Test("--json prints an object for each finding, with exact sizes")
    func json() throws {
        let name = FileName([0x61, 0xFF])
        let home = try auditedHome {
            File("app/package.json", "{}")
            Directory("app/node_modules") { File(name, content(100_000)) }
            File(name).excluded(false).attribute(StoredKey.isPurgeable.attribute, "x")
        }
        let result = try audit("--json", "--larger-than", "50K", home, in: home)
        #expect(result.exitCode == 1)
        let size = try tool("du", "-s", "-B1", home.appending("app/node_modules"))
            .prefix { $0 != "\t" }
        let lines = result.text.split(separator: "\n")
        try #require(lines.count == 3)
        #expect(
            lines[0].hasPrefix(
                #"{"version":1,"type":"finding","finding":"malformed","path":null,"pathBase64":""#
            ))
        #expect(lines[0].contains(#""command":"resval set isPurgeable=false $'"#), "\(result)")
        #expect(
            lines[1] == #"""
                {"version":1,"type":"finding","finding":"large","path":"\#(home)/app/node_modules",\#
                "fileAllocatedSize":\#(size),"reason":"backups include it, and it is re-creatable: \#
                node_modules beside package.json (npm install)",\#
                "command":"resval exclude \#(home)/app/node_modules"}
                """#)
        #expect(lines[2] == #"{"version":1,"type":"totals","findingCount":2}"#)
    }
}
