#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemPackage

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
#endif
