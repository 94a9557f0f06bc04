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
#endif
