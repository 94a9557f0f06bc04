import ResourceValues
import ResourceValuesFoundation
import SystemPackage
import TestSupport
import Testing

@Suite("Listing directories")
struct ListingTests {
    private let manager = FileManager.default

    @Test("every name comes back as a URL that leads to its file")
    func hostileNames() throws {
        let tree = Tree {
            for name in HostileNames.all { File(name, Array(repeating: 7, count: 3)) }
            Directory(FileName([0xFE])) { File(FileName([0xFF])) }
        }
        try withTemporaryDirectory(containing: tree) { root in
            let urls = try manager.contentsOfDirectory(at: root.url, includingPropertiesForKeys: [])
            #expect(urls.count == HostileNames.all.count + 1)
            for url in urls where !url.hasDirectoryPath {
                try #expect(url.resourceValues(forKeys: [.fileSizeKey]).fileSize == 3, "\(url)")
            }
            let items = try #require(
                manager.enumerator(at: root.url, includingPropertiesForKeys: [.fileSizeKey]))
            let all = items.compactMap { $0 as? URL }
            #expect(all.count == HostileNames.all.count + 2)
            for url in all { _ = try url.resourceValues(forKeys: [.fileSizeKey]) }
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
            for text in [root.string, root.string + "/"] {
                let url = URL(fileURLWithPath: text)
                for options in [FileManager.DirectoryEnumerationOptions(), .skipsHiddenFiles] {
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
            for name in ["f", "link", "missing"] as [FileName] {
                try #expect(
                    code {
                        _ = try manager.contentsOfDirectory(
                            at: root.appending(name).url, includingPropertiesForKeys: nil)
                    } == .fileReadNoSuchFile)
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
}
