import ResourceValues
import ResourceValuesFoundation
import SystemPackage
import TestSupport
import Testing

@Suite("From URLs to files", .cleansUp)
struct PathTests {
    @Test("names of any bytes are reached by their escapes", arguments: HostileNames.all)
    func hostileNames(name: FileName) throws {
        let root = try temporaryDirectory { File(name, "content") }
        let url = root.appending(name).url
        var values = URLResourceValues()
        values.isPurgeable = true
        try url.setResourceValues(values)
        try #expect(root.appending(name).value(for: .isPurgeable) == true)
        let read = try url.resourceValues(forKeys: [.fileSizeKey, .nameKey, .isHiddenKey])
        #expect(read.fileSize == 7)
        #expect(read.name == String(validating: name.bytes, as: UTF8.self))
        #expect(read.isHidden == (name.bytes.first == UInt8(ascii: ".")))
    }

    @Test(
        "an escaped slash or NUL is no part of a name and throws",
        arguments: ["file:///etc%2Fpasswd", "file:///etc/passwd%00", "file:///%00"])
    func impossibleNames(text: String) throws {
        let url = try #require(URL(string: text))
        try expectError(.fileReadInvalidFileName) {
            _ = try url.resourceValues(forKeys: [.fileSizeKey])
        }
        try expectError(.fileWriteInvalidFileName) {
            try url.setResourceValues(URLResourceValues())
        }
    }

    @Test("every spelling of a file URL leads to the same file")
    func spellings() throws {
        let root = try temporaryDirectory { File("f", "12345") }
        let base = URL(fileURLWithPath: root.string, isDirectory: true)
        let urls = [
            URL(fileURLWithPath: "\(root)/f"), URL(fileURLWithPath: "f", relativeTo: base),
            URL(string: "FILE://\(root)/f"), URL(string: "file://localhost\(root)/f"),
            URL(string: "file:\(root)/f"), URL(string: "file://\(root)/f/"),
            URL(string: "file://\(root)/f#part"), URL(string: "file://\(root)/f?query"),
            URL(string: "file://\(root)/./f"), URL(string: "f", relativeTo: base),
            base.appendingPathComponent("f"),
        ]
        for url in urls {
            let url = try #require(url)
            try #expect(url.resourceValues(forKeys: [.fileSizeKey]).fileSize == 5, "\(url)")
        }
    }

    @Test("a path beyond PATH_MAX is reached")
    func longPath() throws {
        let name = FileName(Array(repeating: UInt8(ascii: "d"), count: 250))
        let root = try temporaryDirectory {
            NestedDirectories(name, depth: 20) { File("f", "12345") }
        }
        let file = root.appending(name, times: 20).appending("f")
        var values = URLResourceValues()
        values.isPurgeable = true
        try file.url.setResourceValues(values)
        try #expect(file.value(for: .isPurgeable) == true)
        let read = try file.url.resourceValues(forKeys: [
            .isPurgeableKey, .fileSizeKey, .nameKey, .isReadableKey, .volumeURLKey,
        ])
        #expect(read.isPurgeable == true)
        #expect(read.fileSize == 5)
        #expect(read.name == "f")
        #expect(read.isReadable == true)
        #expect(read.volume != nil)
        values.name = "g"
        try file.url.setResourceValues(values)
        try #expect(root.appending(name, times: 20).appending("g").value(.fileSizeKey) as? Int == 5)
    }

    @Test("names and places are told by the path")
    func names() throws {
        let root = try temporaryDirectory {
            Directory("d") { File("a b.txt") }
            SymbolicLink("link", to: "d")
            Directory("Mac.app")
            File("File.app")
        }
        let url = URL(fileURLWithPath: "\(root)/link/../link/a b.txt")
        let read = try url.resourceValues(forKeys: [
            .nameKey, .localizedNameKey, .pathKey, .canonicalPathKey, .parentDirectoryURLKey,
        ])
        #expect(read.name == "a b.txt")
        #expect(read.localizedName == "a b.txt")
        #expect(read.canonicalPath == "\(root)/d/a b.txt")
        #expect(read.parentDirectory?.lastPathComponent == "link")
        try #expect(root.appending("link").value(.canonicalPathKey) as? String == "\(root)/link")
        try #expect(FilePath("/").value(.nameKey) as? String == "/")
        try #expect(FilePath("/").value(.parentDirectoryURLKey) == nil)
        try #expect(
            FilePath("\(root)/d/..").value(.nameKey) as? String == root.lastComponent?.string)
        try #expect(FilePath("\(root)/d/..").value(.isHiddenKey) as? Bool == false)
        try #expect(root.appending("Mac.app").value(.isPackageKey) as? Bool == true)
        try #expect(root.appending("File.app").value(.isPackageKey) as? Bool == false)
        try #expect(root.appending("d").value(.isPackageKey) as? Bool == false)
    }

    @Test("no URL has an empty path or last component, even below a name that is not UTF-8")
    func noEmptyPaths() throws {
        let name = FileName([0xE9])
        let root = try temporaryDirectory { Directory(name) { File("f") } }
        let keys: Set<Key> = [.parentDirectoryURLKey, .nameKey, .pathKey, .canonicalPathKey]
        let inside = try root.appending(name).appending("f").url.resourceValues(forKeys: keys)
        #expect(inside.parentDirectory == nil)
        #expect(inside.name == "f")
        #expect(inside.path == nil && inside.canonicalPath == nil)
        let directory = try root.appending(name).url.resourceValues(forKeys: keys)
        #expect(directory.parentDirectory?.path == root.string)
        #expect(directory.name == nil)
    }

    @Test("a path in text starts in the working directory, whatever bytes that has")
    func pathsInText() throws {
        let name = FileName([0xE9])
        let root = try temporaryDirectory { Directory(name) { File("f") } }
        try inWorkingDirectory(root.appending(name)) {
            let url = try URL(atPath: "f")
            try #expect(url.resourceValues(forKeys: [.nameKey]).name == "f")
            let isCreated = FileManager.default.createMarkedFile(
                atPath: "g", contents: Data("x".utf8), attributes: nil)
            #expect(isCreated)
        }
        try #expect(contentsOfFile(root.appending(name).appending("g")) == Array("x".utf8))
        try expectError(.fileReadNoSuchFile) { _ = try URL(atPath: "", .reading) }
        try expectError(.fileNoSuchFile) { _ = try URL(atPath: "") }
    }

    @Test("setting a name renames the item and never replaces another")
    func renaming() throws {
        let root = try temporaryDirectory { File("old", "x") }
        var values = URLResourceValues()
        values.name = "new"
        values.isPurgeable = true
        try root.appending("old").url.setResourceValues(values)
        try #expect(root.appending("new").value(for: .isPurgeable) == true)
        #expect(throws: CocoaError.self) { try root.appending("old").value(.fileSizeKey) }
        for name in ["", ".", "..", "a/b", "a\0b"] {
            values.name = name
            try #expect(
                code { try root.appending("new").url.setResourceValues(values) }
                    == .fileWriteInvalidFileName, "\(name)")
        }
    }
}
