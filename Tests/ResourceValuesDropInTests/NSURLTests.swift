import ResourceValues
import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("NSURL and NSData keep marks", .cleansUp)
struct NSURLTests {
    @Test("each way to set a value of an NSURL stores it, where Foundation stores nothing")
    func stores() throws {
        let key: URLResourceKey = .isExcludedFromBackupKey
        let mixed: [URLResourceKey: Any] = [
            key: true, .isPurgeableKey: true, .fileProtectionKey: URLFileProtection.complete,
            .contentModificationDateKey: Date(timeIntervalSince1970: 1_000_000_000),
        ]
        let ways: [(NSURL) throws -> Void] = [
            { try $0.setResourceValue(true, forKey: .isExcludedFromBackupKey) },
            { try $0.setResourceValue(NSNumber(value: true), forKey: .isExcludedFromBackupKey) },
            { try $0.setResourceValue(true, forKey: key) },
            { try $0.setResourceValues([.isExcludedFromBackupKey: true]) },
            { try $0.setResourceValues([key: true, .isPurgeableKey: true]) },
            { try $0.setResourceValues(mixed) },
        ]
        let file = try temporaryFile()
        try #expect(foundationExclusion(of: "\(file)") == nil)
        try #expect(file.marks() == Marks.none)
        for (index, set) in ways.enumerated() {
            let file = try temporaryFile()
            try set(file.url as NSURL)
            try #expect(file.value(for: .isExcludedFromBackup) == true, "\(index)")
            guard index == ways.count - 1 else { continue }
            try #expect(file.value(for: .isPurgeable) == true)
            try #expect(file.fileProtection == .complete)
            try #expect(file.status().contentModificationTime.seconds == 1_000_000_000)
        }
    }

    @Test("what is stored is read through NSURL, as the objects of Apple's systems")
    func reads() throws {
        let root = try temporaryDirectory { File("f", "text").excluded() }
        let url = root.appending("f").url as NSURL
        var value: AnyObject?
        try url.getResourceValue(&value, forKey: .isExcludedFromBackupKey)
        #expect((value as? NSNumber)?.boolValue == true)
        try url.getResourceValue(&value, forKey: .isPurgeableKey)
        #expect(value == nil)
        try url.getResourceValue(&value, forKey: .fileSizeKey)
        #expect((value as? NSNumber)?.intValue == 4)
        try root.appending("f").setValue(.protection(.complete), for: .fileProtection)
        try url.getResourceValue(&value, forKey: .fileProtectionKey)
        #expect((value as? NSString) == "NSURLFileProtectionComplete")
        let read = try url.resourceValues(forKeys: [.isExcludedFromBackupKey, .nameKey])
        #expect(read[.isExcludedFromBackupKey] as? Bool == true)
        #expect(read[.nameKey] as? String == "f")
        let keys: [URLResourceKey] = [.fileSizeKey]
        try #expect(url.resourceValues(forKeys: keys)[.fileSizeKey] as? Int == 4)
        // Each type that fits, as on Apple's systems.
        let all = try (url as URL).resourceValues(forKeys: [
            .fileSizeKey, .contentModificationDateKey, .nameKey, .isDirectoryKey,
            .volumeAvailableCapacityForImportantUsageKey,
        ]).allValues
        #expect(all[.fileSizeKey] as? UInt64 == 4 && all[.fileSizeKey] as? Double == 4)
        #expect(all[.volumeAvailableCapacityForImportantUsageKey] as? Int64 != nil)
        #expect(all[.nameKey] as? String == "f" && all[.nameKey] as? NSString == "f")
        #expect(all[.isDirectoryKey] as? Bool == false)
        #expect(all[.contentModificationDateKey] as? Date != nil)
        #expect(all[.contentModificationDateKey] is NSDate)
    }

    @Test("a value that cannot be stored through NSURL is an error with the unset keys")
    func errors() throws {
        let root = try temporaryDirectory { File("f") }
        let url = root.appending("f").url as NSURL
        for (value, key) in [
            ("yes" as Any, URLResourceKey.isExcludedFromBackupKey), (true, .nameKey),
            ("secret", .fileProtectionKey), (true, .creationDateKey),
            (Date.distantPast, .creationDateKey), (true, .isHiddenKey),
        ] {
            let error = #expect(throws: CocoaError.self) {
                try url.setResourceValue(value, forKey: key)
            }
            #expect(error?.code == .featureUnsupported, "\(key)")
            let unset = error?.userInfo[URLResourceKey.keysOfUnsetValuesKey.rawValue]
            #expect(unset as? [URLResourceKey] == [key])
        }
        try #expect(root.appending("f").marks() == Marks.none)
        try #expect(entryCount(root) == 1)
        let missing = root.appending("none").url as NSURL
        expectError(.fileNoSuchFile) {
            try missing.setResourceValue(true, forKey: .isExcludedFromBackupKey)
        }
        #expect(cocoaCode { try url.setResourceValue(true, forKey: .fileSizeKey) } == nil)
        #expect(cocoaCode { try url.setResourceValue(nil, forKey: .isPurgeableKey) } == nil)
    }

    @Test("NSData and NSString write as Data and String do: with a class, and keeping marks")
    func writes() throws {
        let root = try temporaryDirectory {
            for name in ["a", "b", "c"] { File("\(name)", "old").excluded() }
        }
        func url(_ name: String) -> URL { root.appending(name).url }
        let data = Data("new".utf8) as NSData
        try data.write(to: url("a"), options: [.atomic, .completeFileProtection])
        try data.write(toFile: "\(root)/new", options: .completeFileProtection)
        #expect(data.write(to: url("b"), atomically: true))
        #expect(data.write(toFile: "\(root)/plain", atomically: false))
        #expect(!data.write(toFile: "\(root)/none/f", atomically: true))
        try NSString("new").write(
            to: url("c"), atomically: true, encoding: String.Encoding.utf8.rawValue)
        for name in ["a", "new"] {
            try #expect(root.appending(name).fileProtection == .complete)
        }
        for name in ["a", "b", "c"] {
            try #expect(root.appending(name).value(for: .isExcludedFromBackup) == true)
        }
        for name in ["a", "b", "c", "new", "plain"] {
            try #expect(contentsOfFile(root.appending(name)) == Array("new".utf8))
        }
    }
}
