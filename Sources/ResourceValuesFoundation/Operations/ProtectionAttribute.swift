#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemPackage

/// File attributes, with the protection class taken out of them.
struct SplitAttributes {
    /// The class to store; nil when the attributes name none.
    let protection: FileProtection?
    /// What Foundation understands.
    let others: [FileAttributeKey: Any]

    /// - Throws: `CocoaError.featureUnsupported` for a class that is none of the constants'.
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
    /// Runs an operation on the file at this URL; its errors become Foundation's.
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
