import ResourceValues
import ResourceValuesFoundation
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// Foundation answers `""` for the last component of a URL that leads to such a name.
@Suite("Names that are not UTF-8", .cleansUp)
struct NotUTF8Tests {
    private let manager = FileManager.default

    @Test("a name that is not UTF-8 is an error of a listing, which names it")
    func notUTF8() throws {
        let root = try temporaryDirectory {
            File("a"); Directory(FileName([0x63, 0xE9])) { File("in") }
        }
        let error = try #require(throws: CocoaError.self) {
            try manager.contentsOfDirectory(at: root.url, includingPropertiesForKeys: [])
        }
        #expect(error.code == .fileReadInvalidFileName)
        #expect(error.localizedDescription.contains(#"$'\#(root)/c\351'"#))
        #expect(error.localizedDescription.contains("FilePath"))
        let entry = root.appending(FileName([0x63, 0xE9]))
        #expect((error.underlying as? FileError)?.path == entry)
        // A URL in such a directory would have no path.
        try expectError(.fileReadInvalidFileName) {
            _ = try manager.contentsOfDirectory(at: entry.url, includingPropertiesForKeys: [])
        }
    }

    @Test("a name that is not UTF-8 goes to the handler, which decides, and is not entered")
    func enumeratesNotUTF8() throws {
        let root = try temporaryDirectory {
            Directory("d") {
                File("a"); File(FileName([0xFE])); Directory(FileName([0xFF])) { File("in") }
                File("z")
            }
        }
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

    @Test("a mount point that is not UTF-8 is left out, and the others stay")
    func mountPoints() throws {
        try require(.root)
        let names = [FileName([0xE9]), "a b"]
        let root = try temporaryDirectory { for name in names { Directory(name) } }
        for name in names { try tool("mount", "-t", "tmpfs", "tmpfs", root.appending(name)) }
        defer { for name in names { _ = try? tool("umount", root.appending(name)) } }
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
