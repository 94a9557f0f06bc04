import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// One way to an item, and who goes it.
private struct Way: CustomTestStringConvertible {
    var rule: String
    var path: FilePath
    var user: UInt32 = 0
    /// The real path below the top; nil where the way is refused.
    var real: FilePath?
    /// The item at which it is refused.
    var refusal: FilePath?
    var testDescription: String { rule }
}

private let ada: UInt32 = 1234
private let bob: UInt32 = 1235

/// Root's directories `srv`, `open` (which a group can write) and `sticky`; the homes of two users.
private let tree = Tree {
    Directory("srv") { Directory("lib") { Directory("app") } }
    SymbolicLink("link-of-root", to: "home/ada/work")
    Directory("home/ada") {
        Directory("work").owned(by: ada)
        SymbolicLink("own", to: "work").owned(by: ada)
        SymbolicLink("to-scratch", to: "../../sticky/ada").owned(by: ada)
        SymbolicLink("to-root", to: "../../srv/lib").owned(by: ada)
        SymbolicLink("of-root", to: "work")
        Directory("of-root-itself/below")
        Directory("shared") { SymbolicLink("own", to: "../work").owned(by: ada) }
            .permissions(0o775).owned(by: ada)
    }.owned(by: ada)
    Directory("home/bob") {
        SymbolicLink("to-ada", to: "../ada/work").owned(by: bob)
        Directory("of-ada").owned(by: ada)
    }.owned(by: bob)
    Directory("open") { SymbolicLink("of-root", to: "../srv/lib") }.permissions(0o775)
    Directory("sticky") {
        Directory("ada").owned(by: ada)
        SymbolicLink("of-ada", to: "../home/ada/work").owned(by: ada)
        SymbolicLink("of-root", to: "../srv/lib")
    }.permissions(0o1777)
}

private let ways: [Way] = [
    Way(rule: "root's own directories", path: "srv/lib/app", real: "srv/lib/app"),
    Way(rule: "from root's directory to a user's", path: "home/ada/work", real: "home/ada/work"),
    Way(rule: "a link that root made", path: "link-of-root", real: "home/ada/work"),
    Way(rule: "root through a user's link", path: "home/ada/own", refusal: "home/ada/own"),
    Way(
        rule: "root through a user's link to root's files", path: "home/ada/to-root/app",
        refusal: "home/ada/to-root"),
    Way(
        rule: "from a user's directory to root's", path: "home/ada/of-root-itself/below",
        refusal: "home/ada/of-root-itself"),
    Way(
        rule: "root's link in a user's directory", path: "home/ada/of-root",
        refusal: "home/ada/of-root"),
    Way(
        rule: "from a user's directory to another user's", path: "home/bob/of-ada",
        refusal: "home/bob/of-ada"),
    Way(rule: "root's link where a group can write", path: "open/of-root", refusal: "open/of-root"),
    Way(
        rule: "root's link where everybody can write", path: "sticky/of-root",
        refusal: "sticky/of-root"),
    Way(rule: "a user's own link", path: "home/ada/own", user: ada, real: "home/ada/work"),
    Way(
        rule: "a user's own link to the user's directory elsewhere", path: "home/ada/to-scratch",
        user: ada, real: "sticky/ada"),
    Way(
        rule: "a user's own link to what is not the user's", path: "home/ada/to-root", user: ada,
        refusal: "srv/lib"),
    Way(
        rule: "another user's link", path: "home/bob/to-ada", user: ada,
        refusal: "home/bob/to-ada"),
    Way(
        rule: "a user's own link where everybody can write", path: "sticky/of-ada", user: ada,
        refusal: "sticky/of-ada"),
    Way(
        rule: "a user's own link where a group can write", path: "home/ada/shared/own", user: ada,
        refusal: "home/ada/shared/own"),
    Way(
        rule: "up again to where the way came from", path: "home/ada/work/../../bob",
        real: "home/bob"),
    Way(
        rule: "up again behind a link", path: "link-of-root/../own/..", user: ada,
        real: "home/ada"),
]

@Suite(.cleansUp)
struct NamedItemTests {
    @Test("is reached where nobody else decides where the way leads", arguments: ways)
    private func way(_ way: Way) throws {
        try require(.root)
        let top = try temporaryDirectory(containing: tree, isShared: true)
        let path = top.appending(way.path.components)
        let item: NamedItem
        do throws(FileError) {
            item = try NamedItem(at: path, user: way.user)
        } catch {
            #expect(error.code == .unsafePath && way.refusal != nil, "\(error)")
            #expect(error.path == way.refusal.map { top.appending($0.components) })
            return
        }
        let real = try #require(way.real, "was not refused")
        #expect(item.path == top.appending(real.components))
        #expect(try item.status.identity == item.path.status().identity)
    }

    @Test("from the working directory is the same as from the root, and what is not there an error")
    func otherPaths() throws {
        try #expect(NamedItem(at: ".").path == realPath(of: "."))
        try #expect(NamedItem(at: "/../tmp/.").path == "/tmp")
        #expect(throws: FileError.self) { try NamedItem(at: "") }
        #expect(throws: FileError.self) { try NamedItem(at: "/tmp/missing/item") }
        let root = try temporaryDirectory { SymbolicLink("loop", to: "loop") }
        do throws(FileError) {
            _ = try NamedItem(at: root.appending("loop"))
            Issue.record("a loop has no end")
        } catch {
            #expect(error.code == .symbolicLinkLoop)
        }
    }
}
