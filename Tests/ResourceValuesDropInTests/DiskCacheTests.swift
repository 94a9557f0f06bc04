import ResourceValues
import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// What caches for Apple's systems do with dates: the time of the last use is the creation date, or the
/// time of expiry the modification date.
@Suite("Caches that keep times in the dates of their files")
struct DiskCacheTests {
    private let expiry = Date(timeIntervalSince1970: 1_900_000_000)

    @Test("a creation date cannot be stored: Foundation pretends, the drop-in changes nothing")
    func creationDate() throws {
        try withTemporaryDirectory(
            containing: Tree {
                File("f"); File("g")
            }
        ) { root in
            let used = Date(timeIntervalSince1970: 1_000_000_000)
            let attributes: [FileAttributeKey: Any] = [
                .creationDate: used, .modificationDate: expiry,
            ]
            try setFoundationAttributes(attributes, of: "\(root)/f")
            try #expect(foundationCreationDate(of: "\(root)/f") != used)
            let before = try root.appending("g").status()
            #expect(
                cocoaCode {
                    try FileManager.default.setAttributes(attributes, ofItemAtPath: "\(root)/g")
                } == .featureUnsupported)
            #expect(
                cocoaCode {
                    try FileManager.default.setAttributes(
                        [.creationDate: used, .modificationDate: expiry], ofItemAtPath: "\(root)/g")
                } == .featureUnsupported)
            try #expect(root.appending("g").status() == before)
            var values = URLResourceValues()
            values.creationDate = used
            #expect(
                cocoaCode {
                    var url = root.appending("g").url
                    try url.setResourceValues(values)
                } == .featureUnsupported)
        }
    }

    @Test("a cache that removes a file whose times it cannot store keeps none that never expires")
    func storingByCreationDate() throws {
        try withTemporaryDirectory { root in
            let file = root.appending("f")
            let store = {
                try Data("image".utf8).write(to: file.url)
                do {
                    try FileManager.default.setAttributes(
                        [.creationDate: Date() + 1, .modificationDate: expiry]
                            as [FileAttributeKey: Any],
                        ofItemAtPath: "\(file)")
                } catch {
                    try FileManager.default.removeItem(at: file.url)
                    throw error
                }
            }
            #expect(cocoaCode { try store() } == .featureUnsupported)
            try #expect(entryCount(root) == 0)
        }
    }

    @Test("an expiry that a cache tries to extend, ignoring errors, stays as it was stored")
    func extendingByCreationDate() throws {
        try withTemporaryDirectory(containing: Tree { File("f") }) { root in
            let file = root.appending("f")
            try FileManager.default.setAttributes(
                [.modificationDate: expiry], ofItemAtPath: "\(file)")
            let extended: [FileAttributeKey: Any] = [
                .creationDate: Date() + 1, .modificationDate: expiry + 86400,
            ]
            try? FileManager.default.setAttributes(extended, ofItemAtPath: "\(file)")
            let values = try file.url.resourceValues(forKeys: [.contentModificationDateKey])
            #expect(values.contentModificationDate == expiry)
        }
    }

    @Test("a cache whose expiry is the modification date works as with Foundation")
    func expiryByModificationDate() throws {
        try withTemporaryDirectory { root in
            let manager = FileManager.default
            for (name, set) in [
                ("foundation", setFoundationAttributes),
                ("ours", setAttributes),
            ] {
                let path = "\(root)/\(name)"
                #expect(manager.createFile(atPath: path, contents: Data("object".utf8)))
                try set([.modificationDate: expiry], path)
                try #expect(
                    manager.attributesOfItem(atPath: path)[.modificationDate] as? Date == expiry)
                try #expect(
                    URL(fileURLWithPath: path).resourceValues(
                        forKeys: [.contentModificationDateKey]
                    ).contentModificationDate == expiry)
            }
            try manager.setAttributes([.modificationDate: expiry], ofItemAtPath: "\(root)/ours")
            try manager.setAttributes(
                [.protectionKey: FileProtectionType.complete] as [FileAttributeKey: Any],
                ofItemAtPath: "\(root)")
            try #expect(root.fileProtection == .complete)
        }
    }

    @Test("with the access date for the last use, the file that was read last is evicted last")
    func lastUseByAccessDate() throws {
        let names = ["a", "b", "c"]
        let tree = Tree { for name in names { File(FileName(Array(name.utf8))) } }
        try withTemporaryDirectory(containing: tree) { root in
            func use(_ name: String, at seconds: TimeInterval) throws {
                var values = URLResourceValues()
                values.contentAccessDate = Date(timeIntervalSince1970: seconds)
                values.contentModificationDate = expiry
                var url = root.appending(name).url
                try url.setResourceValues(values)
            }
            for (index, name) in names.enumerated() { try use(name, at: 1e9 + Double(index)) }
            try use("a", at: 1e9 + 10)
            let dates = try names.map {
                try root.appending($0).url.resourceValues(forKeys: [.contentAccessDateKey])
                    .contentAccessDate ?? .distantPast
            }
            let oldestFirst = zip(names, dates).sorted { $0.1 < $1.1 }.map(\.0)
            #expect(oldestFirst == ["b", "c", "a"])
        }
    }

    @Test("an item's attributes can be set on it again, and on others without creation date")
    func roundTrip() throws {
        try withTemporaryDirectory(containing: Tree { File("f").permissions(0o640) }) { root in
            let file = root.appending("f")
            try file.setValue(true, for: .isPurgeable)
            var attributes = try FileManager.default.attributesOfItem(atPath: "\(file)")
            let created = try #require(file.status().creationTime)
            let date = try #require(attributes[.creationDate] as? Date)
            #expect(
                abs(
                    date.timeIntervalSince1970 - Double(created.seconds)
                        - Double(created.nanoseconds) / 1e9) < 1e-5)
            try FileManager.default.setAttributes(attributes, ofItemAtPath: "\(file)")
            try Tree { File("g") }.create(in: root)
            #expect(
                cocoaCode {
                    try FileManager.default.setAttributes(attributes, ofItemAtPath: "\(root)/g")
                } == .featureUnsupported)
            attributes[.creationDate] = nil
            try FileManager.default.setAttributes(attributes, ofItemAtPath: "\(root)/g")
            try #expect(root.appending("g").status().permissions == 0o640)
        }
    }

    @Test("flags of Apple's filesystems can be off, and not on")
    func flagsOfOtherSystems() throws {
        try withTemporaryDirectory(containing: Tree { File("f") }) { root in
            for key in [FileAttributeKey.busy, .extensionHidden, .hfsCreatorCode, .hfsTypeCode] {
                func set(_ value: Any) -> CocoaError.Code? {
                    cocoaCode {
                        try FileManager.default.setAttributes(
                            [key: value], ofItemAtPath: "\(root)/f")
                    }
                }
                #expect(set(true) == .featureUnsupported)
                #expect(set(NSNumber(value: 1)) == .featureUnsupported)
                #expect(set(false) == nil)
                #expect(set(UInt32(0)) == nil)
            }
        }
    }
}

private func setAttributes(_ attributes: [FileAttributeKey: Any], of path: String) throws {
    try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
}
