#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

extension Data {
    /// Writes the data and keeps marks: what `write(to:options:)` does on Apple's systems.
    ///
    /// With a protection class, with `atomic`, or if the file does not exist yet, the file appears
    /// under its name only with its whole content and all marks (see `writeFile` of
    /// ResourceValues). With `atomic` both are synchronized to disk before, as Foundation does: after a loss of
    /// power there is the old file or the whole new one. Its class is the one in the options, else the replaced
    /// file's, else the directory's. Otherwise an existing file is written in place, which keeps
    /// its marks.
    ///
    /// - Throws: `CocoaError`: `fileWriteFileExists` (with `withoutOverwriting`), `fileNoSuchFile`,
    ///   `featureUnsupported` (the filesystem cannot store the class), `fileWriteOutOfSpace` and
    ///   others.
    public func writeKeepingMarks(to url: URL, options: Data.WritingOptions = []) throws {
        let protection = try options.protection(url)
        let isReplacing = !options.contains(.withoutOverwriting)
        if protection == nil && isReplacing && url.isWrittenInPlace(options) {
            return try url.operate(.creating) { _ in try write(to: url, options: options) }
        }
        try write(
            to: url, protection: protection, replacing: isReplacing,
            synchronizing: options.contains(.atomic) ? .content : .none)
    }

    /// - Parameter permissions: the permission bits of a new file, reduced by the process's umask.
    func write(
        to url: URL, protection: FileProtection?, replacing isReplacing: Bool,
        permissions: UInt16 = 0o666, synchronizing synchronization: WriteSynchronization
    ) throws {
        try url.operate(.creating) { path in
            try withUnsafeBytes { bytes in
                try path.writeFile(
                    bytes, protection: protection, replacing: isReplacing,
                    permissions: permissions, synchronizing: synchronization)
            }
        }
    }
}

extension URL {
    /// Whether an existing file is written in place: always for devices, FIFOs and other kinds of
    /// items; for regular files and symbolic links unless the write is atomic.
    fileprivate func isWrittenInPlace(_ options: Data.WritingOptions) -> Bool {
        // The write itself meets and reports this error.
        guard let path = try? filePath() else { return true }
        guard let status = try? path.withoutFollowing.status() else { return false }
        if status.kind == .regularFile || status.kind == .symbolicLink {
            return !options.contains(.atomic)
        }
        return true
    }
}

extension Data.WritingOptions {
    /// Returns the class in the options, or nil.
    fileprivate func protection(_ url: URL) throws -> FileProtection? {
        switch intersection(.fileProtectionMask) {
        case []: return nil
        case .noFileProtection: return FileProtection.none
        case .completeFileProtection: return .complete
        case .completeFileProtectionUnlessOpen: return .completeUnlessOpen
        case .completeFileProtectionUntilFirstUserAuthentication:
            return .completeUntilFirstUserAuthentication
        case .completeFileProtectionWhenUserInactive: return .completeWhenUserInactive
        default:
            let error = FileError(code: .unsupportedFileKind, message: "unknown protection class")
            throw CocoaError(error, url, .writing)
        }
    }

    /// Readable while unlocked, and for a grace period after the user leaves.
    public static let completeFileProtectionWhenUserInactive = Data.WritingOptions(
        rawValue: 0x5000_0000)
}

extension StringProtocol {
    /// Writes the text and keeps marks, as ``Foundation/Data/writeKeepingMarks(to:options:)`` does.
    ///
    /// - Throws: also `fileWriteInapplicableStringEncoding`.
    public func writeKeepingMarks(
        to url: URL, atomically useAuxiliaryFile: Bool, encoding: String.Encoding
    ) throws {
        guard let data = data(using: encoding) else {
            throw CocoaError(.fileWriteInapplicableStringEncoding).naming(url)
        }
        try data.writeKeepingMarks(to: url, options: useAuxiliaryFile ? .atomic : [])
    }
}
#endif
