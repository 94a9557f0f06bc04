#if !canImport(Darwin)
import Foundation
import SystemCalls

extension FileError.Code {
    /// Foundation's code for an error of this kind; the same that Foundation gives for the errno.
    func cocoaCode(_ access: FileAccess) -> CocoaError.Code {
        switch access {
        case .reading: Self.readCodes[self] ?? .fileReadUnknown
        case .writing, .creating: Self.writeCodes[self] ?? .fileWriteUnknown
        }
    }

    /// What to do about an error of this kind that brings no advice of its own.
    var advice: String {
        switch self {
        case .noSuchFile, .notADirectory: "check the path"
        case .permissionDenied: "run as the owner"
        case .fileExists, .attributeExists: "remove it first, or use another name"
        case .nameTooLong: "use another name"
        case .symbolicLinkLoop: "use the path that the link leads to"
        case .unsupportedFileKind: "leave this value or item out"
        case .changed: "try again"
        default: "check the item and its filesystem"
        }
    }

    private static let readCodes: [FileError.Code: CocoaError.Code] = [
        .noSuchFile: .fileReadNoSuchFile,
        .permissionDenied: .fileReadNoPermission,
        .nameTooLong: .fileReadInvalidFileName,
        .malformedValue: .fileReadCorruptFile,
        .unsupportedFilesystem: .featureUnsupported,
        .unsupportedFileKind: .featureUnsupported,
    ]

    private static let writeCodes: [FileError.Code: CocoaError.Code] = [
        .noSuchFile: .fileNoSuchFile,
        .permissionDenied: .fileWriteNoPermission,
        .stickyDirectory: .fileWriteNoPermission,
        .immutable: .fileWriteNoPermission,
        .nameTooLong: .fileWriteInvalidFileName,
        .readOnlyFilesystem: .fileWriteVolumeReadOnly,
        .noSpace: .fileWriteOutOfSpace,
        .quotaExceeded: .fileWriteOutOfSpace,
        .attributeExists: .fileWriteFileExists,
        .fileExists: .fileWriteFileExists,
        .unsupportedFilesystem: .featureUnsupported,
        .unsupportedFileKind: .featureUnsupported,
    ]
}
#endif
