import BackupPlanning
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("A manifest", .cleansUp)
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
        let root = try temporaryDirectory(containing: Self.tree)
        let plan = try makePlan(root) { $0.makesManifest = true }
        let manifest = try #require(plan.manifest)
        #expect(manifest.count == 4)
        func contains(_ path: [UInt8]) -> Bool {
            manifest.index(of: PlanManifest.hash(path)) != nil
        }
        for name in ["f", "d", "link"] {
            #expect(contains(root.appending(name).bytes))
        }
        for name in ["marked", "d/inner", "socket", "f ", "", "F"] {
            #expect(!contains(root.bytes + Array("/\(name)".utf8)))
        }
    }

    @Test("has each item once, also of a directory with more than a thread keeps to itself")
    func manyFiles() throws {
        let root = try temporaryDirectory()
        try shell(#"cd "$1" && seq 70000 | xargs touch"#, root)
        let manifest = try #require(makePlan(root) { $0.makesManifest = true }.manifest)
        #expect(Set(manifest.entries.map(\.path)).count == 70001)
        #expect(manifest.count == 70001)
    }

    @Test("has one entry for each item, with the number of its SOURCE")
    func entries() throws {
        let root = try temporaryDirectory {
            Directory("a"); Directory("b")
        }
        let sources = ["a", "b"].map { root.appending($0) }
        let plan = try makePlan(sources[0], sources[1]) { $0.makesManifest = true }
        let manifest = try #require(plan.manifest)
        for (number, source) in sources.enumerated() {
            let index = try #require(manifest.index(of: PlanManifest.hash(source.bytes)))
            #expect(manifest.entries[index].source == number)
        }
    }

    @Test("another state differs from before, and another file under the same name, too")
    func states() throws {
        let root = try temporaryDirectory(containing: Self.tree)
        func entry(_ name: FileName) throws -> PlanManifest.Entry {
            let path = root.appending(name)
            return PlanManifest.Entry(path.bytes, try path.withoutFollowing.status())
        }
        let (file, directory) = (try entry("f"), try entry("d"))
        #expect(try entry("f").state == file.state)
        try shell(#"echo more >> "$1"; touch "$2/new""#, root.appending("f"), root.appending("d"))
        #expect(try entry("f").state != file.state)
        #expect(try entry("f").identity == file.identity)
        #expect(try entry("d").state == directory.state)
        try tool("mv", root.appending("f"), root.appending("g"))
        #expect(try entry("g").identity == file.identity)
    }
}
