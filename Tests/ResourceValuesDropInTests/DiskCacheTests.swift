import ResourceValues
import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// What caches for Apple's systems do with dates: the time of the last use is the creation date, or the
/// time of expiry the modification date.
@Suite("Caches that keep times in the dates of their files", .cleansUp)
struct DiskCacheTests {
    private let expiry = Date(timeIntervalSince1970: 1_900_000_000)

    @Test("a creation date cannot be stored: Foundation pretends, the drop-in changes nothing")
    func creationDate() throws {
        let root = try temporaryDirectory {
            File("f"); File("g")
        }
        let used = Date(timeIntervalSince1970: 1_000_000_000)
        let attributes: [FileAttributeKey: Any] = [.creationDate: used, .modificationDate: expiry]
        try setFoundationAttributes(attributes, of: "\(root)/f")
        try #expect(foundationCreationDate(of: "\(root)/f") != used)
        let before = try root.appending("g").status()
        expectError(.featureUnsupported) { try setAttributes(attributes, of: "\(root)/g") }
        expectError(.featureUnsupported) {
            try manager.setAttributes(
                [.creationDate: used, .modificationDate: expiry], ofItemAtPath: "\(root)/g")
        }
        try #expect(root.appending("g").status() == before)
        var values = URLResourceValues()
        values.creationDate = used
        expectError(.featureUnsupported) {
            try root.appending("g").url.setResourceValues(values)
        }
    }

    @Test("a cache whose expiry is the modification date works as with Foundation")
    func expiryByModificationDate() throws {
        for set in [setFoundationAttributes, setAttributes] {
            let file = try temporaryFile()
            try set([.modificationDate: expiry], "\(file)")
            let attributes = try manager.attributesOfItem(atPath: "\(file)")
            #expect(attributes[.modificationDate] as? Date == expiry)
            let values = try file.url.resourceValues(forKeys: [.contentModificationDateKey])
            #expect(values.contentModificationDate == expiry)
            try manager.setAttributes([.modificationDate: expiry], ofItemAtPath: "\(file)")
        }
    }

    @Test("an item's attributes can be set on it again, and on others, without creation date")
    func roundTrip() throws {
        let file = try temporaryFile()
        try manager.setAttributes([.posixPermissions: 0o640], ofItemAtPath: "\(file)")
        let attributes = try manager.attributesOfItem(atPath: "\(file)")
        let created = try #require(file.status().creationTime)
        let date = try #require(attributes[.creationDate] as? Date)
        #expect(
            abs(
                date.timeIntervalSince1970 - Double(created.seconds)
                    - Double(created.nanoseconds) / 1e9) < 1e-5)
        try setAttributes(attributes, of: "\(file)")
        let other = file.removingLastComponent().appending("g")
        try Data().write(to: other.url)
        try setAttributes(attributes, of: "\(other)")
        try #expect(other.status().permissions == 0o640)
        expectError(.featureUnsupported) {
            try setAttributes([.creationDate: date], of: "\(other)")
        }
    }

    @Test("flags of Apple's filesystems can be off, and not on")
    func flagsOfOtherSystems() throws {
        let file = try temporaryFile()
        for key in [FileAttributeKey.busy, .extensionHidden, .hfsCreatorCode, .hfsTypeCode] {
            for value: Any in [true, NSNumber(value: 1)] {
                expectError(.featureUnsupported) {
                    try setAttributes([key: value], of: "\(file)")
                }
            }
            for value: Any in [false, UInt32(0)] {
                try setAttributes([key: value], of: "\(file)")
            }
        }
    }
}
