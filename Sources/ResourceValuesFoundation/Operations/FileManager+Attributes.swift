#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

extension FileManager {
    /// Stores a protection class on the item at a path, which is not followed when it is a symbolic
    /// link.
    ///
    /// Foundation's own `setAttributes` ignores classes. Attributes of other keys, which have no
    /// values of this type, go there.
    ///
    /// - Throws: `CocoaError`: `fileNoSuchFile`, `fileWriteNoPermission`, `featureUnsupported` (the
    ///   filesystem or the kind of file cannot hold the class, or there is no such class) and others.
    public func setAttributes(
        _ attributes: [FileAttributeKey: FileProtectionType], ofItemAtPath path: String
    ) throws {
        try setAllAttributes(attributes, ofItemAtPath: path)
    }

    /// Foundation's `setAttributes`, with the protection class, which is stored first: when it cannot
    /// be, nothing is changed.
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

    /// Foundation's `attributesOfItem`, with the protection class where one is stored.
    ///
    /// A class that is malformed or cannot be read is answered as `complete`: whoever obeys it fails
    /// safe.
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
