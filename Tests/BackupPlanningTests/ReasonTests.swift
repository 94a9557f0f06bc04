import BackupPlanning
import CTestSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("A plan", .cleansUp)
struct ReasonTests {
    @Test("says why it leaves an item out, and counts")
    func reasonsAndTotals() throws {
        let root = try temporaryDirectory {
            File("kept", "12345")
            File("marked", "123").excluded()
            File("false", "1").excluded(false)
            Directory("build") {
                File("object", "1234567")
                Directory("deep") { File("f") }
            }.excluded()
            File("plain/marked", "12").excluded()
            SymbolicLink("plain/link", to: "marked")
            Fifo("plain/fifo")
            Socket("plain/socket")
        }
        let plan = try makePlan(root)
        #expect(
            plan.reasons(below: root) == [
                "build: marked", "marked: marked", "plain/marked: marked",
                "plain/socket: socket",
            ])
        #expect(plan.exclusions.map(\.isDirectory) == [true, false, false, false])
        #expect(plan.notices.isEmpty)
        #expect(!plan.isIncomplete)
        // The root, build and plain; the entry of an excluded directory is stored.
        #expect(plan.totals.storedDirectories == 3)
        #expect(plan.totals.storedFiles == 2)
        #expect(plan.totals.storedBytes == 6)
        #expect(plan.totals.storedOthers == 2)
        #expect(plan.totals.storedItems == 7)
        #expect(plan.totals.excludedItems == 4)
        #expect(plan.totals.excludedFileBytes == 5)
    }

    @Test("takes a file with several names although a mark excludes it, and says so")
    func hardLinks() throws {
        let root = try temporaryDirectory {
            File("one", "123").excluded()
            HardLink("two", to: "one")
            Directory("build") { HardLink("three", to: "one") }.excluded()
        }
        let plan = try makePlan(root)
        #expect(plan.reasons(below: root) == ["build: marked"])
        #expect(plan.notices(below: root) == ["one: hard-linked", "two: hard-linked"])
        #expect(plan.totals.storedFiles == 2)
        #expect(!plan.isIncomplete)
    }

    @Test(
        "takes an item with a malformed mark, and says so",
        arguments: ["yes", "", " ", String(repeating: "true", count: 100)])
    func malformed(value: String) throws {
        let name = StoredKey.isExcludedFromBackup.attribute
        let root = try temporaryDirectory {
            File("file").attribute(name, value)
            Directory("directory") { File("inner") }.attribute(name, value)
        }
        let plan = try makePlan(root)
        #expect(plan.exclusions.isEmpty)
        #expect(plan.notices(below: root) == ["directory: malformed", "file: malformed"])
        #expect(plan.totals.storedFiles == 2)
    }

    @Test("leaves out the repository wherever it is met")
    func repository() throws {
        let root = try temporaryDirectory {
            Directory("a") { Directory("repository") { File("pack") } }
            File("f")
        }
        let identity = try root.pushing("a/repository").status().identity
        let plan = try makePlan(root) { $0.repositories = [identity] }
        #expect(plan.reasons(below: root) == ["a/repository: repository"])
        #expect(plan.totals.storedDirectories == 3)
        #expect(!plan.isIncomplete)
    }

    @Test("reports paths that are too long for the engine, and no others")
    func longPaths() throws {
        let root = try temporaryDirectory()
        // 15 names of 255 bytes, and one that brings the file's path to 4095 bytes.
        let long = FileName(Array(repeating: UInt8(ascii: "d"), count: 255))
        let rest = 4095 - root.length - 15 * 256 - 1
        let fitting = FileName(Array(repeating: UInt8(ascii: "f"), count: rest))
        let tooLong = FileName(Array(repeating: UInt8(ascii: "g"), count: rest + 1))
        try Tree {
            NestedDirectories(long, depth: 15) {
                File(fitting)
                File(tooLong)
                Directory(FileName(tooLong.bytes.map { _ in UInt8(ascii: "h") })) { File("f") }
            }
        }.create(in: root)
        let plan = try makePlan(root)
        #expect(plan.exclusions.map(\.reason) == [.tooLong, .tooLong])
        #expect(plan.exclusions.map(\.path.length) == [4096, 4096])
        #expect(plan.totals.storedFiles == 1)
        #expect(plan.totals.storedDirectories == 16)
        #expect(plan.isIncomplete)
    }

    @Test("reports what an ordinary user cannot read or enter, and goes on")
    func unreadableDirectory() throws {
        try require(.root)
        let root = try temporaryDirectory(isShared: true) {
            Directory("closed") { File("f") }.permissions(0o700)
            Directory("listed") {
                File("f"); Directory("g")
            }.permissions(0o744)
            File("open")
        }
        let plan = try asOrdinaryUser { try makePlan(root) }
        #expect(
            plan.notices(below: root).sorted() == [
                "closed: permissionDenied", "listed/f: permissionDenied",
                "listed/g: permissionDenied",
            ])
        #expect(plan.isIncomplete)
        #expect(plan.totals.storedFiles == 1)
    }

    @Test("takes tmpfs mounted inside a source, and leaves out proc")
    func mounts() throws {
        try require(.root)
        let root = try temporaryDirectory {
            Directory("proc"); Directory("tmp")
        }
        let (proc, tmp) = (root.appending("proc"), root.appending("tmp"))
        try tool("mount", "-t", "proc", "proc", proc)
        defer { _ = try? tool("umount", proc) }
        try tool("mount", "-t", "tmpfs", "tmpfs", tmp)
        defer { _ = try? tool("umount", tmp) }
        try Tree {
            File("kept", "1"); File("marked").excluded()
        }.create(in: tmp)
        let plan = try makePlan(root)
        #expect(plan.reasons(below: root) == ["proc: mount", "tmp/marked: marked"])
        #expect(plan.exclusions[0].reason == .mount(type: "proc", category: .pseudo))
        #expect(plan.totals.storedFiles == 1)
        #expect(plan.totals.storedDirectories == 3)
    }

    @Test("counts each examined item once, also of several hundred")
    func examinedItems() throws {
        let root = try temporaryDirectory {
            for number in 0..<30 {
                Directory("directory \(number)") { for number in 0..<20 { File("\(number)", "") } }
            }
        }
        let examined = Monitor(0)
        let plan = try makePlan(root) { planner in
            planner.didExamine = { count in examined.withLock { $0 += count } }
        }
        #expect(plan.totals.storedItems == 631)
        #expect(examined.withLock { $0 } == 631)
    }

    @Test("stops with CancellationError")
    func stops() throws {
        let root = try temporaryDirectory { File("f") }
        _ = #expect(throws: CancellationError.self) {
            try makePlan(root) { $0.shouldStop = { true } }
        }
    }

    private static let tree = Tree {
        File("free", "1")
        File("none", "1").protection(.none)
        File("until unlocked", "123").protection(.completeUntilFirstUserAuthentication)
        File("broken", "1").attribute(StoredKey.fileProtection.attribute, "strong")
        Directory("secret") {
            File("letter", "1")
            File("public", "1").protection(.none)
            SymbolicLink("link", to: "letter")
            Directory("deeper") { File("letter", "1") }
            File("left out", "1").excluded()
        }.protection(.complete)
    }

    @Test("leaves out what has a class, wherever from, and says so, unless the store is encrypted")
    func leavesOut() throws {
        let root = try temporaryDirectory(containing: Self.tree)
        let plan = try makePlan(root) { $0.storesPlaintext = true }
        #expect(
            plan.reasons(below: root) == [
                "broken: protected", "secret/deeper/letter: protected",
                "secret/left out: marked", "secret/letter: protected",
                "secret/link: protected", "until unlocked: protected",
            ])
        #expect(plan.isIncomplete)
        #expect(plan.totals.storedFiles == 3)
        #expect(plan.totals.storedDirectories == 3)
        let letter = try #require(
            plan.exclusions.first { $0.path == root.pushing("secret/letter") })
        #expect(letter.reason.ancestor == root.pushing("secret"))
        #expect(letter.reason.origin == .protected(Effective(.marked(.complete))))
        let encrypted = try makePlan(root)
        #expect(encrypted.reasons(below: root) == ["secret/left out: marked"])
        #expect(!encrypted.isIncomplete)
    }

    @Test("leaves out the tag of a cache directory that has a class, and takes any other")
    func tagFiles() throws {
        let signature = "Signature: 8a477f597d28d172789f06886806bc55"
        let root = try temporaryDirectory {
            Directory("free") { File("CACHEDIR.TAG", signature) }
            Directory("inherited") { File("CACHEDIR.TAG", signature) }.protection(.complete)
            File("own/CACHEDIR.TAG", signature).protection(.completeUnlessOpen)
        }
        let policy = StoragePolicy(markers: [.native, .cachedir])
        let plan = try makePlan(root, policy: policy) { $0.storesPlaintext = true }
        #expect(
            plan.reasons(below: root) == [
                "free: marker", "inherited: marker", "inherited/CACHEDIR.TAG: protected",
                "own: marker", "own/CACHEDIR.TAG: protected",
            ])
        #expect(plan.totals.storedFiles == 1)
    }

    @Test("cannot be made of a SOURCE that is one protected file")
    func source() throws {
        let root = try temporaryDirectory(containing: Self.tree)
        let file = root.appending("until unlocked")
        #expect(throws: SourceError.self) { try makePlan(file) { $0.storesPlaintext = true } }
    }
}

/// Runs `body`, and threads it starts, with the file access of a user without privileges. The kernel
/// keeps that for each thread; other tests are not concerned.
private func asOrdinaryUser<Result>(_ body: () throws -> Result) throws -> Result {
    try #require(test_set_file_user(54321) == 0)
    defer { _ = test_set_file_user(0) }
    return try body()
}
