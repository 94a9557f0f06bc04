import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// A call that lists a directory in paths.
enum PathListingCall: CaseIterable {
    case contents, subpathsOfDirectory, subpaths, enumerator

    /// Makes the call; nil where it returns nil.
    func run(_ path: String) throws -> [String]? {
        let manager = FileManager.default
        return switch self {
        case .contents: try manager.contentsOfDirectory(atPath: path)
        case .subpathsOfDirectory: try manager.subpathsOfDirectory(atPath: path)
        case .subpaths: manager.subpaths(atPath: path)
        case .enumerator: manager.enumerator(atPath: path)?.compactMap { $0 as? String }
        }
    }
}

@Suite("Listings in paths", .cleansUp)
struct PathListingTests {
    private let tree = Tree {
        Directory("d") {
            for name in HostileNames.all
            where String(validating: name.bytes, as: UTF8.self) != nil
                && name != HostileNames.combiningMarks
            {
                File(name)
            }
            Directory("a:b") { Directory("c%41") { File("f") } }
            File(".hidden"); SymbolicLink("away", to: "a:b")
        }
        SymbolicLink("link", to: "d"); File("f")
    }

    @Test("they are Foundation's where names are UTF-8", arguments: PathListingCall.allCases)
    func sideBySide(call: PathListingCall) throws {
        let root = try temporaryDirectory(containing: tree)
        for name in ["", "/d", "/d/", "/link", "/f", "/missing", "/d/a:b/.."] {
            let path = "\(root)\(name)"
            var (ours, foundation): ([String]??, [String]??)
            let (code, foundationCode) = (
                cocoaCode { ours = try call.run(path) },
                cocoaCode { foundation = try call.runFoundation(path) }
            )
            #expect(code == foundationCode, "\(name)")
            #expect(ours??.sorted() == foundation??.sorted(), "\(name)")
        }
        let empty = (
            cocoaCode { _ = try call.run("") }, cocoaCode { _ = try call.runFoundation("") }
        )
        #expect(empty.0 == empty.1)
        if call == .subpaths { try #expect((call.run("\(root)") ?? []).count > 25) }
    }

    /// Of such a name, Foundation makes an absolute path.
    @Test("a name that begins with a combining mark is itself", arguments: PathListingCall.allCases)
    func combiningMark(call: PathListingCall) throws {
        let name = HostileNames.combiningMarks
        let root = try temporaryDirectory { Directory(name) { File(name) } }
        let text = String(decoding: name.bytes, as: UTF8.self)
        let below = call == .contents ? [] : ["\(text)/\(text)"]
        try #expect(
            call.run("\(root)").map { $0.map { Array($0.utf8) } }
                == ([text] + below).map { Array($0.utf8) })
    }

    @Test("a name that is not UTF-8 is an error, and never another name")
    func notUTF8() throws {
        let root = try temporaryDirectory {
            Directory("d") {
                File("a"); Directory(FileName([0x63, 0xE9])) { File("in") }
            }
        }
        for directory in ["\(root)/d", "\(root)"] {
            let isAbove = directory == "\(root)"
            try #expect(
                Set(PathListingCall.enumerator.run(directory) ?? [])
                    == (isAbove ? ["d", "d/a"] : ["a"]))
            try #expect(PathListingCall.subpaths.run(directory) == nil)
            for call in [PathListingCall.contents, .subpathsOfDirectory] {
                let code = cocoaCode { _ = try call.run(directory) }
                let isBelow = isAbove && call == .contents
                #expect(code == (isBelow ? nil : .fileReadInvalidFileName))
            }
        }
    }

    @Test("an enumerator tells level and attributes, and skips what it is told to")
    func enumerator() throws {
        let root = try temporaryDirectory {
            Directory("d") { File("in", "four") }
            File("f", "four").permissions(0o640)
        }
        let items = try #require(FileManager.default.enumerator(atPath: "\(root)"))
        var levels: [String: Int] = [:]
        while let path = items.nextObject() as? String {
            levels[path] = items.level
            let type: FileAttributeType = path == "d" ? .typeDirectory : .typeRegular
            #expect(items.fileAttributes?[.type] as? FileAttributeType == type)
            if path == "d" { items.skipDescendants() }
        }
        #expect(levels == ["d": 1, "f": 1])
        #expect(items.directoryAttributes?[.type] as? FileAttributeType == .typeDirectory)
    }
}
