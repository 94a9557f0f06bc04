#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

extension FileManager {
    /// Stores a protection class on the item at a path. A symbolic link is not followed.
    ///
    /// Foundation's own `setAttributes` ignores classes. Attributes with other keys are passed on
    /// to it; none of them has values of this type.
    ///
    /// - Throws: `CocoaError`: `fileNoSuchFile`, `fileWriteNoPermission`, `featureUnsupported` (the
    ///   filesystem or the kind of file cannot store the class, or there is no such class) and
    ///   others.
    public func setAttributes(
        _ attributes: [FileAttributeKey: FileProtectionType], ofItemAtPath path: String,
        _ unused: Void = ()
    ) throws {
        try setAllAttributes(attributes, ofItemAtPath: path)
    }

    /// Sets dates of the item at a path. A symbolic link is not followed.
    ///
    /// Foundation's own `setAttributes` ignores `creationDate`, which Linux cannot store.
    ///
    /// - Throws: `CocoaError`: `featureUnsupported` for a `creationDate` other than the item's, and
    ///   then no date is set; others as Foundation.
    public func setAttributes(
        _ attributes: [FileAttributeKey: Date], ofItemAtPath path: String,
        _ unused: Void = ()
    ) throws {
        try setAllAttributes(attributes, ofItemAtPath: path)
    }

    /// Sets attributes as Foundation's `setAttributes` does, and the protection class.
    ///
    /// Attributes that Linux cannot store are rejected first, unless the item has the value already.
    /// The class is stored next: if that fails, nothing is changed.
    package func setAllAttributes(
        _ attributes: [FileAttributeKey: Any], ofItemAtPath path: String
    ) throws {
        let url = try URL(atPath: path)
        let split = try SplitAttributes(attributes, url) {
            try url.operate { try $0.withoutFollowing.fileStatus().creationTime }
        }
        if let protection = split.protection {
            try url.operate { path in
                try path.withoutFollowing.setValue(.protection(protection), for: .fileProtection)
            }
        }
        if !split.others.isEmpty {
            try url.operate { _ in try setAttributes(split.others, ofItemAtPath: path) }
        }
    }

    /// Returns attributes as Foundation's `attributesOfItem` does, and the protection class if one
    /// is stored.
    ///
    /// A class that is malformed or cannot be read is returned as `complete`, so that programs that
    /// honour it fail safe. `creationDate` is when the item was created, and missing where the
    /// filesystem does not store that; Foundation's is the time of the last change of attributes.
    package func allAttributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        let url = try URL(atPath: path, .reading)
        var attributes = try url.operate(.reading) { _ in try attributesOfItem(atPath: path) }
        let (mark, created) = try url.operate(.reading) { path in
            let item = path.withoutFollowing
            return (try item.mark(for: .fileProtection), try item.fileStatus().creationTime)
        }
        attributes[.creationDate] = created.map { Date($0) }
        let protection = mark.isBroken ? .complete : mark.value?.protection
        attributes[.protectionKey] = protection.map { FileProtectionType($0) }
        return attributes
    }
}

/// File attributes, split into the protection class and the others.
struct SplitAttributes {
    /// The class to store; nil when the attributes contain none.
    let protection: FileProtection?
    /// The attributes that Foundation supports.
    let others: [FileAttributeKey: Any]

    /// Splits the attributes of an item that is to be created.
    ///
    /// - Throws: `CocoaError.featureUnsupported` for a class that no constant has, and for an
    ///   attribute that Linux cannot store.
    init(_ attributes: [FileAttributeKey: Any], ofNewItemAt url: URL) throws {
        try self.init(attributes, url) { nil }
    }

    /// Splits attributes.
    ///
    /// - Parameter creationTime: called for the item's creation time if that is among the
    ///   attributes.
    /// - Throws: as ``init(_:ofNewItemAt:)``, unless the item has the value already.
    init(
        _ attributes: [FileAttributeKey: Any], _ url: URL, creationTime: () throws -> FileTime?
    ) throws {
        var others = attributes
        let value = others.removeValue(forKey: .protectionKey)
        if let created = others.removeValue(forKey: .creationDate) {
            guard let time = try creationTime(), let date = created as? Date,
                isSame(.date(Date(time)), .date(date))
            else { throw Self.unsupported("Linux cannot store the creation date", url) }
        }
        for key in Self.flagsOfOtherSystems {
            guard let value = others.removeValue(forKey: key), number(value) != 0 else { continue }
            throw Self.unsupported("Linux cannot store \(key.rawValue)", url)
        }
        self.others = others
        guard let value else {
            protection = nil
            return
        }
        let type =
            value as? FileProtectionType
            ?? (value as? String).map { FileProtectionType(rawValue: $0) }
        guard let stored = type?.stored else {
            throw Self.unsupported("unknown protection class", url)
        }
        protection = stored
    }

    /// The permission bits among the attributes; nil when there are none.
    var permissions: UInt16? {
        others[.posixPermissions].flatMap(number).map { UInt16(truncatingIfNeeded: $0) }
    }

    /// Attributes of Apple's filesystems, which Foundation ignores on Linux. All are off, or 0, here.
    private static let flagsOfOtherSystems: [FileAttributeKey] = [
        .busy, .extensionHidden, .hfsCreatorCode, .hfsTypeCode,
    ]

    private static func unsupported(_ message: String, _ url: URL) -> CocoaError {
        CocoaError(FileError(code: .unsupportedFileKind, message: message), url, .writing)
    }
}

/// Returns the number in an attribute's value; nil when it is none.
private func number(_ value: Any) -> Int? {
    switch value {
    case let flag as Bool: flag ? 1 : 0
    case let number as NSNumber: number.intValue
    case let number as any BinaryInteger: Int(truncatingIfNeeded: number)
    default: nil
    }
}

extension URL {
    /// Runs an operation on the file at this URL, and converts its errors to Foundation's.
    func operate<Result>(
        _ access: FileAccess = .writing, _ body: (FilePath) throws -> Result
    ) throws -> Result {
        do {
            return try body(try filePath())
        } catch let error as CocoaError {
            throw error.naming(self)
        } catch {
            throw CocoaError(error, self, access)
        }
    }

    /// Runs a writing operation on the item at this URL, which has to exist. Errors of reaching it
    /// have the codes of reading, as in Foundation.
    func operateOnExisting<Result>(_ body: (FilePath) throws -> Result) throws -> Result {
        try operate { path in
            do throws(FileError) {
                _ = try path.withoutFollowing.fileStatus()
            } catch {
                throw CocoaError(error, self, .reading)
            }
            return try body(path)
        }
    }
}

extension FileProtectionType {
    /// Readable while unlocked, and for a grace period after the user leaves.
    public static let completeWhenUserInactive = FileProtectionType(.completeWhenUserInactive)

    /// Creates a class with the raw name of file attributes, such as `NSFileProtectionComplete`.
    init(_ protection: FileProtection) {
        let name = protection.rawValue
        self.init(rawValue: "NSFileProtection" + name.prefix(1).uppercased() + name.dropFirst())
    }

    /// The class as it is stored; nil when no constant has the raw name.
    var stored: FileProtection? {
        FileProtection.allCases.first { FileProtectionType($0).rawValue == rawValue }
    }
}

// Foundation's type is neither on Linux, so that no optional class can be compared.
extension FileProtectionType: @retroactive Equatable, @retroactive Hashable {
    /// Whether two classes have the same raw name.
    public static func == (first: FileProtectionType, second: FileProtectionType) -> Bool {
        first.rawValue == second.rawValue
    }

    /// Feeds the raw name to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
#endif
