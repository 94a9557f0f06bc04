import ResourceValues
import ResourceValuesFoundation
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Listing directories")
struct ListingTests {
    private typealias Options = FileManager.DirectoryEnumerationOptions
    private let manager = FileManager.default

    @Test("every name in UTF-8 comes back as a URL that leads to its file")
    func hostileNames() throws {
        let names = HostileNames.all.filter { $0.text != nil } + ["a:b", "%41", "äöü"]
        let tree = Tree { for name in names { File(name, Array(repeating: 7, count: 3)) } }
        try withTemporaryDirectory(containing: tree) { root in
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
    }

    @Test("a name that is not UTF-8 is an error of a listing, which names it")
    func notUTF8() throws {
        let tree = Tree {
            File("a"); Directory(FileName([0x63, 0xE9])) { File("in") }
        }
        try withTemporaryDirectory(containing: tree) { root in
            let error = try #require(throws: CocoaError.self) {
                try manager.contentsOfDirectory(at: root.url, includingPropertiesForKeys: [])
            }
            #expect(error.code == .fileReadInvalidFileName)
            #expect(error.localizedDescription.contains(#"$'\#(root)/c\351'"#))
            #expect(error.localizedDescription.contains("FilePath"))
            let entry = root.appending(FileName([0x63, 0xE9]))
            #expect((error.underlying as? FileError)?.path == entry)
            // A URL in such a directory would have no path.
            try #expect(
                code {
                    _ = try manager.contentsOfDirectory(
                        at: entry.url, includingPropertiesForKeys: [])
                } == .fileReadInvalidFileName)
        }
    }

    @Test("a name that is not UTF-8 goes to the handler, which decides, and is not entered")
    func enumeratesNotUTF8() throws {
        let tree = Tree {
            Directory("d") {
                File("a"); File(FileName([0xFE])); Directory(FileName([0xFF])) { File("in") }
                File("z")
            }
        }
        try withTemporaryDirectory(containing: tree) { root in
            var told: [(url: URL, code: CocoaError.Code?)] = []
            let items = manager.enumerator(at: root.url, includingPropertiesForKeys: []) {
                told.append(($0, ($1 as? CocoaError)?.code))
                return true
            }
            let urls = items?.compactMap { $0 as? URL } ?? []
            #expect(Set(urls.map(\.lastPathComponent)) == ["d", "a", "z"])
            #expect(told.map(\.code) == [.fileReadInvalidFileName, .fileReadInvalidFileName])
            #expect(told.allSatisfy { $0.url.path == "\(root)/d" })

            let silent = manager.enumerator(at: root.url, includingPropertiesForKeys: [])
            #expect(silent?.compactMap { $0 as? URL } == urls)

            var count = 0
            let stopped = manager.enumerator(at: root.url, includingPropertiesForKeys: []) { _, _ in
                count += 1
                return false
            }
            #expect((stopped?.allObjects.count ?? 0) < 4)
            #expect(count == 1)
        }
    }

    @Test("an export that removes what is in its way removes nothing else")
    func exporting() throws {
        let tree = Tree {
            Directory("source") { File(FileName([0xE9]), "1"); File("b", "2") }
            Directory("export") { File("kept", "3") }
        }
        try withTemporaryDirectory(containing: tree) { root in
            let export = root.appending("export").url
            let items = manager.enumerator(
                at: root.appending("source").url, includingPropertiesForKeys: [])
            for case let item as URL in try #require(items) {
                let copy = export.appendingPathComponent(item.lastPathComponent)
                if manager.fileExists(atPath: copy.path) { try manager.removeItem(at: copy) }
                try manager.copyItemKeepingMarks(at: item, to: copy)
            }
            try #expect(contentsOfFile(root.appending("export/kept")) == Array("3".utf8))
            try #expect(contentsOfFile(root.appending("export/b")) == Array("2".utf8))
        }
    }

    @Test("URLs equal those that Foundation lists, where names are UTF-8")
    func sameAsFoundation() throws {
        let tree = Tree {
            File("plain"); File("a b+c=d&e'(f);,@:$!*~"); File("äöü"); File("%41"); File(".hidden")
            Directory("d") { File("in") }
            SymbolicLink("link", to: "d")
        }
        try withTemporaryDirectory(containing: tree) { root in
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
    }

    @Test("what is no directory is an error, not an empty list")
    func noDirectory() throws {
        let tree = Tree {
            File("f"); Directory("d") { File("in") }; SymbolicLink("link", to: "d")
        }
        try withTemporaryDirectory(containing: tree) { root in
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
    }

    @Test("enumerating goes on after a directory that is closed, when told to")
    func closedDirectory() throws {
        let tree = Tree {
            Directory("a") { File("1") }.permissions(0)
            Directory("b") { File("2") }.permissions(0)
            File("c")
        }
        try withTemporaryDirectory(containing: tree, isShared: true) { root in
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
    }

    @Test("levels, skipped descendants and options")
    func options() throws {
        let tree = Tree {
            Directory("a") { Directory("b") { File("deep") } }
            Directory("Mac.app") { File("inside") }
            Directory(".hidden") { File("inside") }
        }
        try withTemporaryDirectory(containing: tree) { root in
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
    }

    @Test("a path without a scheme is listed from the working directory, as by Foundation")
    func withoutScheme() throws {
        try withTemporaryDirectory(containing: Tree { Directory("a:b c") { File("f") } }) { root in
            try inWorkingDirectory(root) {
                let keys: [Foundation.URLResourceKey]? = nil
                for text in ["a%3Ab%20c", "./a:b%20c", "."] {
                    let url = try #require(URL(string: text))
                    let ours = try manager.contentsOfDirectory(
                        at: url, includingPropertiesForKeys: [])
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
    }

    @Test("attributes of an enumerator of URLs are nil, as Foundation's")
    func enumeratorAttributes() throws {
        try withTemporaryDirectory(containing: Tree { File("f") }) { root in
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

    @Test("a mount point that is not UTF-8 is left out, and the others stay")
    func mountPoints() throws {
        try require(.root)
        let tree = Tree { Directory(FileName([0xE9])); Directory("a b") }
        try withTemporaryDirectory(containing: tree) { root in
            for name in [FileName([0xE9]), "a b"] {
                try tool("mount", "-t", "tmpfs", "tmpfs", root.appending(name))
            }
            defer {
                for name in [FileName([0xE9]), "a b"] {
                    _ = try? tool("umount", root.appending(name))
                }
            }
            for options in [FileManager.VolumeEnumerationOptions(), .skipHiddenVolumes] {
                let volumes = try #require(
                    manager.mountedVolumeURLs(
                        includingResourceValuesForKeys: [], options: options))
                #expect(volumes.contains { $0.path == "\(root)/a b" })
                #expect(volumes.allSatisfy { !$0.lastPathComponent.isEmpty && !$0.path.isEmpty })
                #expect(volumes.contains { $0.path == "/proc" } == options.isEmpty)
            }
        }
    }
}
