#if !canImport(Darwin)
import Foundation
import SystemCalls
import SystemPackage

/// The families of Foundation's file errors.
enum FileAccess {
    case reading
    case writing
}

extension CocoaError {
    /// Creates Foundation's error for an error at a file's URL.
    ///
    /// `userInfo` contains the URL, the path, the errno as an underlying `POSIXError`, a
    /// description of what is wrong and how to proceed, and the keys that were not set.
    ///
    /// - Parameters:
    ///   - error: a ``FileError``, the errno of a system call, a ``FileURLError``, or any other
    ///     error, which becomes the underlying error.
    ///   - unsetKeys: the keys that were not set; empty when reading.
    init(_ error: any Error, _ url: URL, _ access: FileAccess, unsetKeys: [URLResourceKey] = []) {
        var information: [String: any Sendable] = [NSURLErrorKey: url]
        var code: CocoaError.Code = access == .reading ? .fileReadUnknown : .fileWriteUnknown
        if url.isFileURL { information[NSFilePathErrorKey] = url.path }
        if !unsetKeys.isEmpty {
            information[URLResourceKey.keysOfUnsetValuesKey.rawValue] = unsetKeys
        }
        switch error {
        case is FileError, is Errno:
            let error = FileError(error, of: nil)
            code = error.code.cocoaCode(access)
            information[NSLocalizedFailureReasonErrorKey] = error.message
            information[NSLocalizedRecoverySuggestionErrorKey] = error.advice
            information[NSUnderlyingErrorKey] = error.errno.flatMap(posixError)
        case FileURLError.unsupportedScheme: code = .fileReadUnsupportedScheme
        case FileURLError.invalidPath:
            code = access == .reading ? .fileReadInvalidFileName : .fileWriteInvalidFileName
        default: information[NSUnderlyingErrorKey] = error
        }
        self.init(code, userInfo: information)
    }
}

/// Returns the errno as Foundation's error; nil for a code that Foundation does not define.
func posixError(_ errno: Errno) -> POSIXError? {
    POSIXErrorCode(rawValue: errno.rawValue).map { POSIXError($0) }
}

extension FileError.Code {
    func cocoaCode(_ access: FileAccess) -> CocoaError.Code {
        switch access {
        case .reading: Self.readCodes[self] ?? .fileReadUnknown
        case .writing: Self.writeCodes[self] ?? .fileWriteUnknown
        }
    }

    private static let readCodes: [FileError.Code: CocoaError.Code] = [
        .noSuchFile: .fileReadNoSuchFile,
        .notADirectory: .fileReadNoSuchFile,
        .permissionDenied: .fileReadNoPermission,
        .nameTooLong: .fileReadInvalidFileName,
        .malformedValue: .fileReadCorruptFile,
        .unsupportedFilesystem: .featureUnsupported,
        .unsupportedFileKind: .featureUnsupported,
    ]

    private static let writeCodes: [FileError.Code: CocoaError.Code] = [
        .noSuchFile: .fileNoSuchFile,
        .notADirectory: .fileNoSuchFile,
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
