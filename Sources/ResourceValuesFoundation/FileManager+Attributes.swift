#if !canImport(Darwin)
import EffectiveValues
import Foundation
import ResourceValues
import StoragePolicy
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

    /// Sets attributes as Foundation's `setAttributes` does, and the protection class and the immutable
    /// flag.
    ///
    /// Attributes that Linux cannot store are rejected first, unless the item has the value already.
    /// The class is stored next: if that fails, nothing is changed.
    package func setAllAttributes(
        _ attributes: [FileAttributeKey: Any], ofItemAtPath path: String
    ) throws {
        let url = try URL(atPath: path)
        let split = try SplitAttributes(attributes, url)
        if split.protection != nil || split.isImmutable == false {
            var values = URLResourceValues()
            values.fileProtection = split.protection.map { URLFileProtection($0) }
            // Cleared before other changes, which the flag forbids.
            if split.isImmutable == false { values.isUserImmutable = false }
            try url.setResourceValues(values)
        }
        try url.operate { _ in try setOthers(split, ofItemAtPath: path) }
    }

    /// Sets the attributes that Foundation supports, and last the immutable flag.
    func setOthers(_ split: SplitAttributes, ofItemAtPath path: String) throws {
        if !split.others.isEmpty { try setAttributes(split.others, ofItemAtPath: path) }
        guard split.isImmutable == true else { return }
        var values = URLResourceValues()
        values.isUserImmutable = true
        try URL(atPath: path).setResourceValues(values)
    }

    /// Returns attributes as Foundation's `attributesOfItem` does, and the protection class if one
    /// applies.
    ///
    /// The class is the item's own, or else that of the nearest directory above. One that is malformed
    /// or cannot be read is returned as `complete`, so that programs that honour it fail safe.
    /// `creationDate` is when the item was created, and missing where the filesystem does not store
    /// that; Foundation's is the time of the last change of attributes. `immutable` is there where it is
    /// set. Marks are not among the extended attributes.
    package func allAttributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        let url = try URL(atPath: path, .reading)
        var attributes = try url.operate(.reading) { _ in try attributesOfItem(atPath: path) }
        let (protection, status) = try url.operate(.reading) { path in
            (try path.effectiveProtection(), try path.withoutFollowing.fileStatus())
        }
        attributes[.creationDate] = status.creationTime.map { Date($0) }
        if status.isImmutable { attributes[.immutable] = NSNumber(value: true) }
        // A string, as on Apple's systems: it casts to FileProtectionType as well.
        attributes[.protectionKey] = protection.map {
            NSString(string: FileProtectionType($0).rawValue)
        }
        attributes.removeMarks()
        return attributes
    }
}

extension [FileAttributeKey: Any] {
    /// Removes this package's own attributes from the extended ones: written to an item, they would
    /// be the marks that the item, or another one, had before.
    fileprivate mutating func removeMarks() {
        let key = FileAttributeKey(rawValue: "NSFileExtendedAttributes")
        guard let extended = self[key] as? [String: Data] else { return }
        let others = extended.filter { !$0.key.utf8.starts(with: "user.resval.".utf8) }
        self[key] = others.isEmpty ? nil : others
    }

    /// Removes the date and the mode that an evicted file has already. A download knows it by both, and a
    /// `Date` has not all digits of the date.
    ///
    /// - Throws: ``FileError`` when they would be others.
    fileprivate mutating func leavePlaceholder(at path: FilePath) throws(FileError) {
        guard self[.modificationDate] != nil || self[.posixPermissions] != nil else { return }
        let file = path.withoutFollowing
        guard try file.evictionRecord() != nil else { return }
        let status = try file.fileStatus()
        let date = removeValue(forKey: .modificationDate) as? Date
        let permissions = removeValue(forKey: .posixPermissions).flatMap(number)
        let hasDate = date.map { isSame(.date(Date(status.contentModificationTime)), .date($0)) }
        let hasPermissions = permissions.map { $0 == Int(status.permissions) }
        if hasDate == false || hasPermissions == false { try file.requireNotEvicted() }
    }

    /// Whether the attributes are, or are made from, those that an item had: no program makes these.
    fileprivate var wereRead: Bool {
        [.type, .size, .referenceCount, .systemNumber, .systemFileNumber].contains {
            self[$0] != nil
        }
    }
}

extension FilePath {
    /// Returns the class that applies to the item, as `resval explain` says: its own, or that of the
    /// nearest directory above that has one. Only regular files and directories have one.
    func effectiveProtection() throws(FileError) -> FileProtection? {
        let mark = try withoutFollowing.mark(for: .fileProtection)
        if mark.isBroken { return .complete }
        if let own = mark.value?.protection { return own }
        guard try withoutFollowing.fileStatus().kind.canStoreUserAttributes else { return nil }
        return try EffectiveValueReader(StoragePolicy(markers: [.native]))
            .item(at: self, followsLast: false).decision.protectionClass
    }
}

/// File attributes, split into what this module stores and what Foundation does.
struct SplitAttributes {
    /// The class to store; nil when the attributes contain none, or one that applies already and was
    /// read with them.
    let protection: FileProtection?
    let isImmutable: Bool?
    /// The attributes that Foundation supports.
    let others: [FileAttributeKey: Any]

    /// Splits attributes.
    ///
    /// Among attributes that were read from an item, its creation date is passed over, and a class
    /// is stored only where it changes what applies: a program that changes the mode among them and
    /// writes them back stores nothing else.
    ///
    /// - Parameter isNew: whether the item is to be created.
    /// - Throws: `CocoaError.featureUnsupported` for a class that no constant has, and for an
    ///   attribute that Linux cannot store, unless the item has the value already.
    init(_ attributes: [FileAttributeKey: Any], _ url: URL, isNew: Bool = false) throws {
        var others = attributes
        others.removeMarks()
        if let created = others.removeValue(forKey: .creationDate), !attributes.wereRead {
            let time = try isNew ? nil : url.operate { try $0.withoutFollowing.fileStatus() }
            guard let time = time?.creationTime, let date = created as? Date,
                isSame(.date(Date(time)), .date(date))
            else { throw Self.unsupported("Linux cannot store the creation date", url) }
        }
        for key in Self.flagsOfOtherSystems {
            guard let value = others.removeValue(forKey: key), number(value) != 0 else { continue }
            throw Self.unsupported("Linux cannot store \(key.rawValue)", url)
        }
        if !isNew { try url.operate { try others.leavePlaceholder(at: $0) } }
        isImmutable = others.removeValue(forKey: .immutable).map { number($0) != 0 }
        let value = others.removeValue(forKey: .protectionKey)
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
        let isUnchanged =
            try attributes.wereRead
            && url.operate { try $0.protectionThatApplies() ?? FileProtection.none } == stored
        protection = isUnchanged ? nil : stored
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

extension FilePath {
    /// The class of the item, or of the directory that it is to be created in.
    fileprivate func protectionThatApplies() throws(FileError) -> FileProtection? {
        do throws(FileError) {
            return try effectiveProtection()
        } catch  where error.code == .noSuchFile {
            let above = removingLastComponent()
            return try (above.isEmpty ? "." : above).effectiveProtection()
        }
    }
}

/// Returns the number in an attribute's value; nil when it is not a number.
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

// The value of an attribute is a string on Apple's systems, and casts to the type, to String and to
// NSString. Here any string casts to the type then.
extension FileProtectionType: @retroactive _ObjectiveCBridgeable {
    /// The class as an object.
    public func _bridgeToObjectiveC() -> NSString { NSString(string: rawValue) }

    /// Converts an object to a class.
    public static func _forceBridgeFromObjectiveC(
        _ source: NSString, result: inout FileProtectionType?
    ) {
        result = FileProtectionType(rawValue: source._bridgeToSwift())
    }

    /// Converts an object to a class.
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSString, result: inout FileProtectionType?
    ) -> Bool {
        _forceBridgeFromObjectiveC(source, result: &result)
        return true
    }

    /// Converts an object to a class.
    public static func _unconditionallyBridgeFromObjectiveC(
        _ source: NSString?
    ) -> FileProtectionType {
        FileProtectionType(rawValue: source.map { $0._bridgeToSwift() } ?? "")
    }
}
#endif
