import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// One way to an item, and who goes it.
private struct Way: CustomTestStringConvertible {
    let testDescription: String
    let path: FilePath
    let user: UInt32
    /// The real path below the top; nil where the way is refused.
    let real: FilePath?
    /// The item at which it is refused.
    let refusal: FilePath?

    /// Reads ways, each a line: the rule, who goes, the path, and where it leads or is refused.
    static func rows(_ table: String) -> [Way] {
        table.split(separator: "\n").map { line in
            let fields = line.split(separator: " | ").map(String.init)
            let (end, refused) = (fields[3], "refused at ")
            let isRefused = end.hasPrefix(refused)
            return Way(
                testDescription: fields[0], path: FilePath(fields[2]),
                user: fields[1] == "ada" ? ada : 0, real: isRefused ? nil : FilePath(end),
                refusal: isRefused ? FilePath(String(end.dropFirst(refused.count))) : nil)
        }
    }
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

private let ways = Way.rows(
    """
    root's own directories | root | srv/lib/app | srv/lib/app
    from root's directory to a user's | root | home/ada/work | home/ada/work
    a link that root made | root | link-of-root | home/ada/work
    root through a user's link | root | home/ada/own | refused at home/ada/own
    root through a user's link to root's files | root | home/ada/to-root/app \
    | refused at home/ada/to-root
    from a user's directory to root's | root | home/ada/of-root-itself/below \
    | refused at home/ada/of-root-itself
    root's link in a user's directory | root | home/ada/of-root | refused at home/ada/of-root
    from a user's directory to another user's | root | home/bob/of-ada | refused at home/bob/of-ada
    root's link where a group can write | root | open/of-root | refused at open/of-root
    root's link where everybody can write | root | sticky/of-root | refused at sticky/of-root
    a user's own link | ada | home/ada/own | home/ada/work
    a user's own link to the user's directory elsewhere | ada | home/ada/to-scratch | sticky/ada
    a user's own link to what is not the user's | ada | home/ada/to-root | refused at srv/lib
    another user's link | ada | home/bob/to-ada | refused at home/bob/to-ada
    a user's own link where everybody can write | ada | sticky/of-ada | refused at sticky/of-ada
    a user's own link where a group can write | ada | home/ada/shared/own \
    | refused at home/ada/shared/own
    up again to where the way came from | root | home/ada/work/../../bob | home/bob
    up again behind a link | ada | link-of-root/../own/.. | home/ada
    """)

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
        #expect(code { try NamedItem(at: root.appending("loop")) } == .symbolicLinkLoop)
    }
}
