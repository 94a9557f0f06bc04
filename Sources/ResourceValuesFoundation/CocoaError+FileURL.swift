#if !canImport(Darwin)
import Foundation
import SystemCalls
import SystemPackage

/// The families of Foundation's file errors.
package enum FileAccess {
    case reading
    case writing
    /// Writing, by a call that has a code of its own for URLs that are not a file's.
    case creating
}

extension CocoaError {
    /// Creates Foundation's error for an error at a file's URL.
    ///
    /// `userInfo` contains:
    /// - the description: the file's name as it is safe to show, what is wrong and what to do; and
    ///   the last two of these by themselves, as failure reason and recovery suggestion;
    /// - the URL, and the path unless it is not UTF-8 or contains characters that could control a
    ///   terminal when the error is printed;
    /// - as underlying error the errno as a `POSIXError`, or else the error itself;
    /// - the keys that were not set.
    ///
    /// - Parameters:
    ///   - error: a ``FileError``, whose path counts more than the URL's, the errno of a system
    ///     call, or any other error.
    ///   - url: the URL that the operation was called with; nil when only the error's path is
    ///     known.
    ///   - unsetKeys: the keys that were not set; empty when reading.
    init(_ error: any Error, _ url: URL?, _ access: FileAccess, unsetKeys: [URLResourceKey] = []) {
        let cause = CocoaCause(error, access)
        var information = cause.information(url)
        if !unsetKeys.isEmpty {
            information[URLResourceKey.keysOfUnsetValuesKey.rawValue] = unsetKeys
        }
        self.init(cause.code, userInfo: information)
    }

    /// The same error with a description that names the file, unless it has a description.
    func naming(_ url: URL) -> CocoaError {
        guard userInfo[NSLocalizedDescriptionKey] == nil else { return self }
        var cause = CocoaCause(underlying ?? self, .writing)
        if let reason = userInfo[NSLocalizedFailureReasonErrorKey] as? String {
            cause.error.message = reason
        }
        if let advice = userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String {
            cause.error.advice = advice
        }
        let others = userInfo.filter { $0.key != NSFilePathErrorKey }
        return CocoaError(code, userInfo: cause.information(url).merging(others) { $1 })
    }
}

/// What an error of this module is made from.
private struct CocoaCause {
    var error: FileError
    let code: CocoaError.Code
    private let underlying: any Error

    init(_ error: any Error, _ access: FileAccess) {
        switch error {
        case let error as POSIXError:
            self.error = FileError(Errno(rawValue: error.code.rawValue), of: nil)
            code = self.error.cocoaCode(access)
        case let error as CocoaError:
            self.error = FileError(
                code: .other, message: CocoaError(error.code).localizedDescription)
            code = error.code
        default:
            self.error = FileError(error, of: nil)
            code = self.error.cocoaCode(access)
        }
        underlying = self.error.errno.flatMap(posixError) ?? error
    }

    func information(_ url: URL?) -> [String: Any] {
        let path = error.path ?? url.flatMap { try? $0.filePath() }
        let advice = error.advice ?? error.code.advice
        let shown = path.map { NameEscaping.text($0.bytes) } ?? url?.absoluteString ?? "''"
        var information: [String: Any] = [
            NSLocalizedDescriptionKey: "\(shown): \(error.message): \(advice)".printable,
            NSLocalizedFailureReasonErrorKey: error.message.printable,
            NSLocalizedRecoverySuggestionErrorKey: advice.printable,
            NSUnderlyingErrorKey: underlying,
        ]
        // A relative path of an error, and one that is not UTF-8, has no URL of its own.
        information[NSURLErrorKey] =
            error.path.flatMap { URL(bytesOf: $0, isDirectory: false) } ?? url
        information[NSFilePathErrorKey] = path?.text.flatMap { path in
            path.unicodeScalars.allSatisfy(TextSafety.isSafe) ? path : nil
        }
        return information
    }
}

extension String {
    /// The text with every character that could control a terminal replaced.
    fileprivate var printable: String {
        let scalars = unicodeScalars.map {
            TextSafety.isSafe($0) || $0 == "\n" ? $0 : Unicode.Scalar(0xFFFD as UInt16) ?? $0
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

/// Returns the errno as Foundation's error; nil for a code that Foundation does not define.
func posixError(_ errno: Errno) -> POSIXError? {
    POSIXErrorCode(rawValue: errno.rawValue).map { POSIXError($0) }
}

extension FileError {
    /// A URL that is not a file's, or is one of another host.
    static let foreignURL = FileError(
        code: .other, message: "is not the URL of a file on this machine",
        advice: "use a URL with a path and the scheme file")

    /// A URL whose path is not absolute, or contains a malformed escape, or an escaped slash or NUL,
    /// which no file name can contain.
    static let impossiblePath = FileError(
        code: .nameTooLong, message: "has a path that no file can have",
        advice: "use an absolute path without escaped slashes and NULs")

    static let emptyPath = FileError(
        code: .noSuchFile, message: "the path is empty", advice: "name a file",
        errno: .noSuchFileOrDirectory)

    fileprivate func cocoaCode(_ access: FileAccess) -> CocoaError.Code {
        guard self == .foreignURL else { return code.cocoaCode(access) }
        return access == .creating ? .fileWriteUnsupportedScheme : .fileReadUnsupportedScheme
    }
}

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
