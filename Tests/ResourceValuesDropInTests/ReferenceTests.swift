import ResourceValues
import ResourceValuesDropIn
import SystemPackage
import TestSupport
import Testing

/// What a program needs of a file manager, so that tests can give it another.
private protocol FileStore {
    func contentsOfDirectory(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: FileManager.DirectoryEnumerationOptions
    ) throws -> [URL]
    func copyItem(at source: URL, to target: URL) throws
    func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]?
    ) throws
    func removeItem(at url: URL) throws
}

extension FileManager: FileStore {}

private struct EmptyStore: FileStore {
    func contentsOfDirectory(
        at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?,
        options mask: FileManager.DirectoryEnumerationOptions
    ) throws -> [URL] { [] }
    func copyItem(at source: URL, to target: URL) throws { throw CocoaError(.fileReadNoSuchFile) }
    func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]?
    ) throws {}
    func removeItem(at url: URL) throws {}
}

@Suite("File managers behind a protocol, and references to methods", .cleansUp)
struct ReferenceTests {
    private let tree = Tree {
        Directory("d") {
            File("f", "x").excluded(); File(".hidden")
        }.purgeable()
    }

    @Test("a file manager behind a program's own protocol keeps marks, and a mock is called")
    func behindProtocol() throws {
        func copyAll(_ store: any FileStore, from source: URL, to target: URL) throws -> Int {
            let items = try store.contentsOfDirectory(
                at: source, includingPropertiesForKeys: [.fileSizeKey], options: .skipsHiddenFiles)
            try store.createDirectory(
                at: target, withIntermediateDirectories: true, attributes: nil)
            for item in items {
                try store.copyItem(
                    at: item, to: target.appendingPathComponent(item.lastPathComponent))
            }
            return items.count
        }
        let root = try temporaryDirectory(containing: tree)
        let (source, target) = (root.appending("d").url, root.appending("new").url)
        try #expect(copyAll(EmptyStore(), from: source, to: target) == 0)
        try #expect(copyAll(FileManager.default, from: source, to: target) == 1)
        try #expect(root.appending("new/f").value(for: .isExcludedFromBackup) == true)
    }

    @Test("references without a call are the drop-in's methods")
    func references() throws {
        let manager = FileManager.default
        let copy = manager.copyItem(at:to:)
        let move = manager.moveItem(at:to:)
        let list = manager.contentsOfDirectory(at:includingPropertiesForKeys:options:)
        let typed:
            (URL, [URLResourceKey]?, FileManager.DirectoryEnumerationOptions) throws -> [URL] =
                manager.contentsOfDirectory(at:includingPropertiesForKeys:options:)
        let enumerate = manager.enumerator(at:includingPropertiesForKeys:options:errorHandler:)
        let create = manager.createDirectory(at:withIntermediateDirectories:attributes:)
        let createFile = manager.createFile(atPath:contents:attributes:)
        let set = manager.setAttributes(_:ofItemAtPath:)
        let get = manager.attributesOfItem(atPath:)
        let values: (URL) -> (Set<URLResourceKey>) throws -> URLResourceValues =
            URL.resourceValues(forKeys:)
        let volumes = manager.mountedVolumeURLs(includingResourceValuesForKeys:options:)
        let root = try temporaryDirectory(containing: tree)
        try copy(root.appending("d").url, root.appending("e").url)
        try move(root.appending("e/f").url, root.appending("g").url)
        try #expect(root.appending("g").value(for: .isExcludedFromBackup) == true)
        try #expect(list(root.appending("d").url, nil, []).count == 2)
        try #expect(list(root.appending("d").url, [.isDirectoryKey], []).count == 2)
        try #expect(typed(root.appending("d").url, [.isPurgeableKey], []).count == 2)
        #expect(enumerate(root.url, nil, [], nil)?.allObjects.count == 6)
        try set([.protectionKey: FileProtectionType.complete], "\(root)/d")
        try create(root.appending("d/sub").url, true, nil)
        #expect(createFile("\(root)/d/sub/f", Data(), nil))
        let read = try get("\(root)/d/sub/f")[.protectionKey] as? FileProtectionType
        #expect(read == .complete)
        try #expect(values(root.appending("g").url)([.isPurgeableKey]).isPurgeable == nil)
        #expect(volumes(nil, [])?.isEmpty == false)
    }

    @Test("a listing with options and without keys finds names that are not UTF-8")
    func literalNil() throws {
        let root = try temporaryDirectory { File(FileName([0xE9])) }
        let manager = FileManager.default
        expectError(.fileReadInvalidFileName) {
            _ = try manager.contentsOfDirectory(
                at: root.url, includingPropertiesForKeys: nil, options: [])
        }
        var codes: [CocoaError.Code?] = []
        let items = manager.enumerator(
            at: root.url, includingPropertiesForKeys: nil, options: []
        ) { _, error in
            codes.append((error as? CocoaError)?.code)
            return true
        }
        #expect(items?.allObjects.isEmpty == true)
        #expect(codes == [.fileReadInvalidFileName])
    }
}
