import BackupPlanning
import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("A manifest")
struct ManifestTests {
    private static let time = FileTime(seconds: 1_600_000_000, nanoseconds: 123_456_789)

    private static let tree = Tree {
        File("f", "123").modified(time)
        File("marked").excluded()
        Directory("d") { File("inner") }.excluded()
        SymbolicLink("link", to: "f")
        Socket("socket")
    }

    @Test("holds what is stored and nothing else")
    func contents() throws {
        try withManifest { root, manifest in
            #expect(manifest.count == 4)
            #expect(manifest.missingCount == 4)
            for name in ["f", "d", "link"] {
                #expect(manifest.isMissing(root.appending(name).bytes))
            }
            for name in ["marked", "d/inner", "socket", "f ", "", "F"] {
                #expect(!manifest.isMissing(root.bytes + Array("/\(name)".utf8)))
            }
        }
    }

    @Test("tells as planned, different and unplanned apart")
    func checks() throws {
        try withManifest { root, manifest in
            let f = root.appending("f").bytes
            let later = FileTime(seconds: Self.time.seconds, nanoseconds: 123_456_790)
            #expect(manifest.check(f, kind: .regularFile, size: 3, modified: later) == .different)
            #expect(
                manifest.check(f, kind: .regularFile, size: 4, modified: Self.time) == .different)
            #expect(
                manifest.check(f, kind: .symbolicLink, size: 3, modified: Self.time) == .different)
            #expect(
                manifest.check(f, kind: .regularFile, size: 3, modified: Self.time) == .asPlanned)
            #expect(
                manifest.check(f[...], kind: .regularFile, size: 3, modified: Self.time)
                    == .asPlanned)
            #expect(
                manifest.check(f + [0], kind: .regularFile, size: 3, modified: Self.time)
                    == .unplanned)
            let marked = root.appending("marked").bytes
            #expect(
                manifest.check(marked, kind: .regularFile, size: 0, modified: later) == .unplanned)
            #expect(manifest.missingCount == 3)
            #expect(!manifest.isMissing(f))
        }
    }

    @Test("looks at size and time of regular files only")
    func directories() throws {
        try withManifest { root, manifest in
            let never = FileTime(seconds: 0, nanoseconds: 0)
            let d = root.appending("d").bytes
            #expect(manifest.check(d, kind: .directory, size: 7, modified: never) == .asPlanned)
            let link = root.appending("link").bytes
            #expect(
                manifest.check(link, kind: .symbolicLink, size: 7, modified: never) == .asPlanned)
        }
    }

    @Test("is not made unless asked for")
    func unasked() throws {
        try withTemporaryDirectory { root in
            try #expect(makePlan(root).manifest == nil)
        }
    }

    private func withManifest(_ body: (FilePath, inout PlanManifest) throws -> Void) throws {
        try withTemporaryDirectory(containing: Self.tree) { root in
            let plan = try makePlan(root) { $0.makesManifest = true }
            var manifest = try #require(plan.manifest)
            try body(root, &manifest)
        }
    }
}
