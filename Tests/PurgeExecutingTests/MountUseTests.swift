import EffectiveValues
import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("What is mounted elsewhere is kept", .cleansUp)
struct MountUseTests {
    /// Is in the names of this test alone: namespaces of others may have copies of its overlays, of
    /// which only the names are known once it has ended.
    private let id = UInt32.random(in: 0 ... .max)
    private var app: String { ".cache/app\(id)" }
    private var unit: String { "\(app)/unit: \(id)" }
    private var tree: Tree {
        Tree {
            File(".cache/loose", block)
            File("\(unit)/file", block)
            File("\(unit)/deep/file", block)
            File("\(unit)/deep/upper\(id)/file", block)
            Directory("\(unit)/deep/work")
            File("elsewhere/lower/other", block)
            File("elsewhere/directory/other", block)
            File("elsewhere/file", block)
        }
    }

    /// Expects that a unit is kept in a plan made while shell commands hold something, and in one made
    /// before, and that it goes afterwards.
    ///
    /// - Parameters:
    ///   - path: nil for the unit.
    ///   - script: run in the home with the path of the unit in `$unit`, and then waited in.
    ///   - options: of unshare(1), for another mount namespace; nil for this one.
    private func expectKept(
        _ path: String? = nil, in options: String? = nil, _ script: String
    ) throws {
        try require(.root)
        let path = path ?? unit
        let home = try purgeHomes().home(tree)
        let before = try home.plan()
        let ready = home.root.appending("ready")
        let start = "cd $0 && id=\(id) && unit=$0/'\(path)' && { \(script); }"
        var process: SleepingProcess?
        if let options {
            process = try SleepingProcess(
                "/usr/bin/unshare", options, "--propagation=private", "bash", "-ec",
                "\(start) && touch $1 && exec sleep 100", home.home, ready)
            try wait(for: ready)
        } else {
            try tool("bash", "-ec", start, home.home)
        }
        let kept = try home.execute(before, home.executor()).kept[home(path)]
        // To mount an overlay on a directory changes it.
        let isChanged = kept == .changed && script.contains("upperdir")
        #expect(kept == .mountedElsewhere || isChanged)
        #expect(try reasonInPlan(home, home(path)) == .mountedElsewhere)
        var rehearsal = home.executor()
        rehearsal.mode = .rehearse
        #expect(try home.execute(before, rehearsal).kept[home(path)] != nil)
        #expect(home(path).exists)
        process?.end()
        if options == nil { try tool("umount", "--recursive", home("elsewhere/directory")) }
        // While any overlay is mounted, a unit with what one left there is kept.
        try tool("find", home(path), "-name", "work", "-perm", "0", "-delete")
        // A namespace that was made meanwhile has a copy of what was mounted in this one.
        let isCopied =
            try options == nil && reasonInPlan(home, home(path)) == .mountedElsewhere
        #expect(try isCopied || home.purge().removed.contains(home(path)))
    }

    private func reasonInPlan(_ home: PurgeFixture, _ path: FilePath) throws -> KeepReason? {
        let reasons = Monitor<[FilePath: KeepReason]>([:])
        let found = try home.search().units(freeing: .max, on: home.home, now: .later) {
            path, why in
            reasons.withLock { $0[FilePath(bytes: path)] = why }
        }
        let reason = reasons.withLock { $0[path] }
        #expect(found.units.contains { $0.path == path.bytes } == (reason == nil))
        return reason
    }

    @Test("a directory of it, here and in another namespace", arguments: [nil, "--mount"])
    func directory(namespace: String?) throws {
        try expectKept(in: namespace, "mount --bind \"$unit/deep\" elsewhere/directory")
    }

    @Test("a directory of it, in a namespace that only a file keeps")
    func namespaceOfFile() throws {
        try expectKept(
            in: nil,
            """
            mount -t tmpfs none elsewhere/directory
            mount --make-private elsewhere/directory
            touch elsewhere/directory/namespace
            # Linux 6.18 numbers namespaces on each processor, and binds none that has a lower number than
            # the one that binds it.
            for processor in $(seq 0 $(($(nproc --all) - 1))); do
                taskset -c $processor unshare --mount=elsewhere/directory/namespace \\
                    --propagation=private mount --bind "$unit/deep" elsewhere/lower && break
            done
            """)
    }

    @Test("all of it, and the directory that holds it")
    func whole() throws {
        try expectKept(in: "--mount", "mount --bind \"$unit\" elsewhere/directory")
        try expectKept(in: "--mount", "mount --bind \(app) elsewhere/directory")
    }

    @Test("a single file of it, and a file that is a unit")
    func file() throws {
        try expectKept(in: "--mount", "mount --bind \"$unit/deep/file\" elsewhere/file")
        try expectKept(".cache/loose", in: "--mount", "mount --bind \"$unit\" elsewhere/file")
    }

    @Test("what something is mounted over in another namespace")
    func mountPoint() throws {
        try expectKept(in: "--mount", "mount -t tmpfs none \"$unit/deep\"")
    }

    @Test("when it is mounted just before it is put aside")
    func meanwhile() throws {
        try require(.root)
        let home = try purgeHomes().home(tree)
        let unit = home(self.unit)
        let plan = try home.plan()
        var isMounted = false
        let report = try home.execute(plan) { call in
            guard call == .renameat2, !isMounted else { return }
            isMounted = true
            try tool("mount", "--bind", unit.appending("deep"), home("elsewhere/directory"))
        }
        #expect(isMounted)
        #expect(report.kept[unit] == .mountedElsewhere)
        #expect(unit.appending("deep/file").exists)
        try tool("umount", home("elsewhere/directory"))
    }

    @Test("seen by a process with another root")
    func otherRoot() throws {
        try expectKept(
            in: "--mount",
            "mount --bind / elsewhere/directory && mount --bind \"$unit/deep\" "
                + "elsewhere/directory/mnt && touch $1 && exec chroot elsewhere/directory sleep 100"
        )
    }

    @Test(
        "a directory of an overlay",
        arguments: [
            "lowerdir=elsewhere/lower,upperdir=UNIT/deep/upperID,workdir=UNIT/deep/work",
            "lowerdir=elsewhere/lower:UNIT/deep/upperID",
            "lowerdir=UNIT:elsewhere/lower",
            "lowerdir=elsewhere/lower:UNIT/..",
        ], [nil, "--mount"])
    func overlay(options: String, namespace: String?) throws {
        try expectKept(
            in: namespace,
            """
            u=${unit//:/\\\\:}; o='\(options)'; o=${o//ID/$id}; o=${o//UNIT/$u}
            mount -t overlay none -o "${o//elsewhere/$0/elsewhere}" elsewhere/directory
            """)
    }

    @Test(
        "a directory of an overlay that is not at the path its mount names",
        arguments: [
            "cd \"$unit/deep\"; overlay upper$id work",
            "cd \"$unit\"; overlay deep/upper$id $0/elsewhere/work",
            "overlay \"$u/deep/upper$id\" \"$u/deep/work\"; mv \"$unit/deep\" \"$unit/moved\"",
            "overlay \"$u/deep/upper$id\" \"$u/deep/work\"; mv \"$unit/deep/\"{upper$id,moved}",
        ], [nil, "--mount"])
    func movedOverlay(script: String, namespace: String?) throws {
        try expectKept(
            in: namespace,
            """
            u=${unit//:/\\\\:}; mkdir elsewhere/work
            overlay() {
                mount -t overlay none $0/elsewhere/directory \\
                    -o "lowerdir=$0/elsewhere/lower,upperdir=$1,workdir=$2"
            }
            \(script); cd $0
            """)
    }

    @Test(
        "by name, where the path of an overlay's directory leads nowhere",
        arguments: [
            ("lowerdir=b/c/", "/a/c/d", true), ("lowerdir=/nowhere/c", "/a/c", true),
            ("lowerdir=/nowhere/c", "/a/d", false), ("lowerdir=.", "/a", true),
            ("lowerdir=b/..", "/a", true), ("upperdir=..", "/a", true),
            ("lowerdir=/etc", "/a/etc", false), ("lowerdir=/etc,workdir=c", "/a/c", false),
        ])
    func names(options: String, path: String, isKept: Bool) {
        let lines = "1 0 0:1 / / rw - ext4 d rw\n2 1 0:2 / /m rw - overlay o \(options)"
        let table = MountTable(mountinfo: Array(lines.utf8))
        let view = MountView(table, root: "/", own: table) { () throws(Errno) in
            SharedDescriptor(try openDirectoryReference("/"))
        }
        let mounts = MountsElsewhere([view], in: table, lookingIn: ["/a"])
        let reason = isKept ? KeepReason.mountedElsewhere : nil
        #expect(mounts.reasonToKeep(Array(path.utf8)) == reason)
        let held = Set(path.split(separator: "/").map { Array($0.utf8) })
        #expect(mounts.reasonToKeep(Array("/b".utf8), holding: held) == reason)
    }

    @Test("what shows the directories that are looked at, or more, keeps nothing")
    func others() throws {
        try require(.root)
        let home = try purgeHomes().home(tree)
        let ready = home.root.appending("ready")
        let process = try SleepingProcess(
            "/usr/bin/unshare", "--mount", "--propagation=private", "bash", "-ec",
            """
            cd $0
            mount --bind \(app) \(app)
            mount --bind .cache elsewhere/directory
            mount --bind $1 /mnt
            touch $1/ready && exec sleep 100
            """, home.home, home.root)
        try wait(for: ready)
        let report = try home.purge()
        #expect(report.kept == [:])
        #expect(!home(unit).exists)
        process.end()
    }
}

@Suite("What a thread uses by itself is kept", .cleansUp)
struct ThreadUseTests {
    private let tree = Tree { cache("unit") { Directory("deep") { File("file", block) } } }

    /// Runs Python in a process of two threads, with `deep` for a directory of the unit and `ready()` to
    /// be called when it is in use; `wait()` never returns.
    private func expectKept(_ body: String, _ main: String = "wait()") throws {
        try require(.tool("python3"))
        let script = """
            import ctypes, os, sys, threading, time
            libc = ctypes.CDLL(None, use_errno=True)
            deep, mark = sys.argv[1:]
            CLONE_FS, CLONE_FILES = 0x200, 0x400
            def ready(): open(mark, "w").close()
            def wait():
                while True: time.sleep(60)
            def unshare(what):
                if libc.unshare(what): os._exit(1)
            def work():
            \(body.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n"))
                ready()
                wait()
            threading.Thread(target=work).start()
            \(main)
            """
        let home = try purgeHome { tree }
        let ready = home.root.appending("ready")
        let unit = home(".cache/app/unit")
        let process = try SleepingProcess(
            "/usr/bin/python3", "-c", script, unit.appending("deep"), ready)
        try wait(for: ready)
        usleep(50_000)
        let report = try home.execute(try home.plan(), home.executor())
        #expect(report.kept == [unit: .processInside])
        process.end()
        #expect(try home.purge().removed == [unit])
    }

    @Test("a working directory of its own")
    func directory() throws { try expectKept("unshare(CLONE_FS)\nos.chdir(deep)") }

    @Test("open files of its own")
    func descriptor() throws {
        try expectKept("unshare(CLONE_FILES)\nos.open(deep, os.O_RDONLY)")
    }

    @Test("when the first thread has ended")
    func firstEnded() throws {
        try expectKept("os.chdir(deep)", "libc.pthread_exit(None)")
        try expectKept("os.open(deep, os.O_RDONLY)", "libc.pthread_exit(None)")
    }
}

@Suite("A mount that does not answer", .cleansUp)
struct SilentMountTests {
    /// Makes a home with such mounts.
    private func homeWithSilentMounts(_ points: [String]) throws -> PurgeFixture {
        let home = try purgeHome {
            cache("unit") { File("file", block) }
            Directory("source") { Directory("inner") { File("file", block) } }
        }
        try makeSilentMounts(at: points.map { home($0) }, showing: home("source"))
        return home
    }

    @Test(
        "does not stop a purge",
        arguments: [
            ["elsewhere"], [".cache/app/mount"], [".cache/app/other/mount"], ["Documents"],
            [".local/share"],
        ])
    func purge(points: [String]) throws {
        let home = try homeWithSilentMounts(points)
        let result = try Command(.built("test-tool"), "purge", home.home, home.state)
            .killed(after: .seconds(30)).run()
        #expect(result.end == .exit(0), "\(result)")
        #expect(result.text.contains("removed \(home(".cache/app/unit"))"), "\(result)")
        #expect(!home(".cache/app/unit").exists)
    }

    @Test("below a location does not stop a purge of another one")
    func below() throws {
        let home = try homeWithSilentMounts(["mount"])
        try tool("ln", "-s", home("mount/inner"), home("Pictures"))
        try tool("ln", "-s", home("mount/inner"), home("Documents"))
        let result = try Command(.built("test-tool"), "purge", home.home, home.state)
            .killed(after: .seconds(30)).run()
        #expect(result.end == .exit(0), "\(result)")
        #expect(!home(".cache/app/unit").exists)
    }
}
