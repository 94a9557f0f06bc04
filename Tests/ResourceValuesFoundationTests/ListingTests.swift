import ResourceValues
import ResourceValuesFoundation
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Listing directories", .cleansUp)
struct ListingTests {
    private typealias Options = FileManager.DirectoryEnumerationOptions
    private let manager = FileManager.default

    @Test("every name in UTF-8 comes back as a URL that leads to its file")
    func hostileNames() throws {
        let names = HostileNames.all.filter { $0.text != nil } + ["a:b", "%41", "äöü"]
        let root = try temporaryDirectory {
            for name in names { File(name, Array(repeating: 7, count: 3)) }
        }
        for options in [Options(), .producesRelativePathURLs] {
            let urls = try manager.contentsOfDirectory(
                at: root.url, includingPropertiesForKeys: [], options: options)
            #expect(Set(urls.map(\.lastPathComponent)) == Set(names.map(\.text)))
            for url in urls {
                #expect(url.path == "\(root)/\(url.lastPathComponent)")
                try #expect(url.resourceValues(forKeys: [.fileSizeKey]).fileSize == 3, "\(url)")
            }
            let items = try #require(
                manager.enumerator(
                    at: root.url, includingPropertiesForKeys: [.fileSizeKey], options: options))
            #expect(items.compactMap { $0 as? URL } == urls)
        }
    }

    @Test("URLs equal those that Foundation lists, where names are UTF-8")
    func sameAsFoundation() throws {
        let root = try temporaryDirectory {
            File("plain"); File("a b+c=d&e'(f);,@:$!*~"); File("äöü"); File("%41"); File(".hidden")
            Directory("d") { File("in") }
            SymbolicLink("link", to: "d")
        }
        let (base, name) = (root.removingLastComponent(), root.lastComponent?.string ?? "")
        let baseURL = URL(fileURLWithPath: base.string, isDirectory: true)
        let urls = [
            URL(fileURLWithPath: root.string), URL(fileURLWithPath: root.string + "/"),
            URL(fileURLWithPath: name, relativeTo: baseURL),
            URL(fileURLWithPath: "\(root)/d/.."), URL(fileURLWithPath: "\(base)/./\(name)"),
            URL(string: root.string), URL(string: "file://localhost\(root)"),
        ]
        for url in urls {
            let url = try #require(url)
            for options in [Options(), .skipsHiddenFiles] {
                let ours = try manager.contentsOfDirectory(
                    at: url, includingPropertiesForKeys: [], options: options)
                let keys: [Foundation.URLResourceKey]? = nil
                let theirs = try manager.contentsOfDirectory(
                    at: url, includingPropertiesForKeys: keys, options: options)
                #expect(Set(ours) == Set(theirs))
                let all = manager.enumerator(
                    at: url, includingPropertiesForKeys: [], options: options)
                let foundation = manager.enumerator(
                    at: url, includingPropertiesForKeys: keys, options: options)
                #expect(
                    Set(all?.compactMap { $0 as? URL } ?? [])
                        == Set(foundation?.compactMap { $0 as? URL } ?? []))
            }
        }
    }

    @Test("what is no directory is an error, not an empty list")
    func noDirectory() throws {
        let root = try temporaryDirectory {
            File("f"); Directory("d") { File("in") }; SymbolicLink("link", to: "d")
        }
        let expected: KeyValuePairs<FileName, CocoaError.Code> = [
            "f": .fileReadUnknown, "link": .fileReadUnknown, "missing": .fileReadNoSuchFile,
        ]
        for (name, expected) in expected {
            try #expect(
                code {
                    _ = try manager.contentsOfDirectory(
                        at: root.appending(name).url, includingPropertiesForKeys: nil)
                } == expected)
        }
        var told: [URL] = []
        let items = manager.enumerator(
            at: root.appending("missing").url, includingPropertiesForKeys: []
        ) { url, _ in
            told.append(url)
            return true
        }
        #expect(items?.nextObject() == nil)
        #expect(told == [root.appending("missing").url])
    }

    @Test("enumerating goes on after a directory that is closed, when told to")
    func closedDirectory() throws {
        let root = try temporaryDirectory(isShared: true) {
            Directory("a") { File("1") }.permissions(0)
            Directory("b") { File("2") }.permissions(0)
            File("c")
        }
        for goesOn in [true, false] {
            var errors: [CocoaError.Code] = []
            let count = try asOrdinaryUser {
                let items = manager.enumerator(
                    at: root.url, includingPropertiesForKeys: []
                ) { _, error in
                    if let error = error as? CocoaError { errors.append(error.code) }
                    return goesOn
                }
                return items?.allObjects.count
            }
            #expect(errors == Array(repeating: .fileReadNoPermission, count: goesOn ? 2 : 1))
            #expect(goesOn ? count == 3 : (count ?? 0) < 4)
        }
    }

    @Test("levels, skipped descendants and options")
    func options() throws {
        let root = try temporaryDirectory {
            Directory("a") { Directory("b") { File("deep") } }
            Directory("Mac.app") { File("inside") }
            Directory(".hidden") { File("inside") }
        }
        func names(_ options: FileManager.DirectoryEnumerationOptions) -> Set<String> {
            let items = manager.enumerator(
                at: root.url, includingPropertiesForKeys: [], options: options)
            return Set(items?.compactMap { ($0 as? URL)?.lastPathComponent } ?? [])
        }
        #expect(names([]) == ["a", "b", "deep", "Mac.app", ".hidden", "inside"])
        #expect(names(.skipsHiddenFiles) == ["a", "b", "deep", "Mac.app", "inside"])
        #expect(names(.skipsSubdirectoryDescendants) == ["a", "Mac.app", ".hidden"])
        #expect(
            names([.skipsPackageDescendants, .skipsHiddenFiles])
                == ["a", "b", "deep", "Mac.app"])
        let items = try #require(
            manager.enumerator(
                at: root.url, includingPropertiesForKeys: [],
                options: [.producesRelativePathURLs, .skipsHiddenFiles]))
        var seen: [String: Int] = [:]
        while let url = items.nextObject() as? URL {
            seen[url.relativeString] = items.level
            if url.relativeString == "a/b/" { items.skipDescendants() }
        }
        #expect(seen == ["a/": 1, "a/b/": 2, "Mac.app/": 1, "Mac.app/inside": 2])
    }

    @Test("a path without a scheme is listed from the working directory, as by Foundation")
    func withoutScheme() throws {
        let root = try temporaryDirectory { Directory("a:b c") { File("f") } }
        try inWorkingDirectory(root) {
            let keys: [Foundation.URLResourceKey]? = nil
            for text in ["a%3Ab%20c", "./a:b%20c", "."] {
                let url = try #require(URL(string: text))
                let ours = try manager.contentsOfDirectory(at: url, includingPropertiesForKeys: [])
                let theirs = try manager.contentsOfDirectory(
                    at: url, includingPropertiesForKeys: keys)
                #expect(ours.map(\.absoluteURL.path) == theirs.map(\.absoluteURL.path))
                #expect(ours.map(\.baseURL) == theirs.map(\.baseURL))
                let values = try ours.first?.resourceValues(forKeys: [.nameKey])
                #expect(values?.name != nil)
            }
        }
        for text in ["https://example.org\(root)", "file:", "?query"] {
            let url = try #require(URL(string: text))
            #expect(throws: CocoaError.self) {
                try manager.contentsOfDirectory(at: url, includingPropertiesForKeys: [])
            }
        }
    }

    @Test("attributes of an enumerator of URLs are nil, as Foundation's")
    func enumeratorAttributes() throws {
        let root = try temporaryDirectory { File("f") }
        let keys: [Foundation.URLResourceKey]? = nil
        let theirs = manager.enumerator(at: root.url, includingPropertiesForKeys: keys)
        let ours = manager.enumerator(at: root.url, includingPropertiesForKeys: [])
        for items in [theirs, ours] {
            let items = try #require(items)
            items.skipDescendants()
            #expect(items.level == 0)
            #expect(items.nextObject() != nil)
            #expect(items.level == 1)
            #expect(items.fileAttributes == nil)
            #expect(items.directoryAttributes == nil)
        }
    }
}
