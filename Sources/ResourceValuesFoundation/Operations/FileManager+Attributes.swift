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
        _ attributes: [FileAttributeKey: FileProtectionType], ofItemAtPath path: String
    ) throws {
        try setAllAttributes(attributes, ofItemAtPath: path)
    }

    /// Sets attributes as Foundation's `setAttributes` does, and the protection class. The class is
    /// stored first: if that fails, nothing is changed.
    package func setAllAttributes(
        _ attributes: [FileAttributeKey: Any], ofItemAtPath path: String
    ) throws {
        let url = URL(fileURLWithPath: path)
        let split = try SplitAttributes(attributes, url)
        if let protection = split.protection {
            try url.operate { path in
                try path.withoutFollowing.setValue(protection, for: .fileProtection)
            }
        }
        if !split.others.isEmpty {
            try setAttributes(split.others, ofItemAtPath: path)
        }
    }

    /// Returns attributes as Foundation's `attributesOfItem` does, and the protection class if one
    /// is stored.
    ///
    /// A class that is malformed or cannot be read is returned as `complete`, so that programs that
    /// honour it fail safe.
    package func allAttributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        var attributes = try attributesOfItem(atPath: path)
        let url = URL(fileURLWithPath: path)
        let mark = try url.operate(.reading) { path in
            try path.withoutFollowing.mark(for: .fileProtection)
        }
        let protection = mark.isBroken ? .complete : mark.value
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

    /// Splits attributes.
    ///
    /// - Throws: `CocoaError.featureUnsupported` for a class that no constant has.
    init(_ attributes: [FileAttributeKey: Any], _ url: URL) throws {
        var others = attributes
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
            let error = FileError(code: .unsupportedFileKind, message: "unknown protection class")
            throw CocoaError(error, url, .writing)
        }
        protection = stored
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
            throw error
        } catch {
            throw CocoaError(error, self, access)
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

/// Matches classes in a `switch`, since the type is not `Equatable` on Linux.
public func ~= (pattern: FileProtectionType, value: FileProtectionType) -> Bool {
    pattern.rawValue == value.rawValue
}
#endif
