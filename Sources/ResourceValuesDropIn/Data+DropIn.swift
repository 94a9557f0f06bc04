#if !canImport(Darwin)
import ResourceValuesFoundation

extension Data {
    /// Writes the data and keeps marks; see `writeKeepingMarks(to:options:)`.
    public func write(to url: URL, options: Data.WritingOptions = []) throws {
        try writeKeepingMarks(to: url, options: options)
    }
}

extension NSData {
    /// Writes the data and keeps marks; see `writeKeepingMarks(to:options:)` of `Data`.
    public func write(to url: URL, options writeOptionsMask: Data.WritingOptions = []) throws {
        try (self as Data).writeKeepingMarks(to: url, options: writeOptionsMask)
    }

    /// Writes the data and keeps marks; see `writeKeepingMarks(to:options:)` of `Data`.
    public func write(
        toFile path: String, options writeOptionsMask: Data.WritingOptions = []
    ) throws {
        try write(to: URL(fileURLWithPath: path), options: writeOptionsMask)
    }

    /// Writes the data and keeps marks; see `writeKeepingMarks(to:options:)` of `Data`.
    ///
    /// - Returns: whether the data is stored.
    public func write(to url: URL, atomically useAuxiliaryFile: Bool) -> Bool {
        do {
            try write(to: url, options: useAuxiliaryFile ? .atomic : [])
            return true
        } catch {
            // The signature has no other way to report a failure.
            return false
        }
    }

    /// Writes the data and keeps marks; see `writeKeepingMarks(to:options:)` of `Data`.
    ///
    /// - Returns: whether the data is stored.
    public func write(toFile path: String, atomically useAuxiliaryFile: Bool) -> Bool {
        write(to: URL(fileURLWithPath: path), atomically: useAuxiliaryFile)
    }
}

extension NSString {
    /// Writes the text and keeps marks; see `writeKeepingMarks(to:atomically:encoding:)`.
    public func write(to url: URL, atomically useAuxiliaryFile: Bool, encoding enc: UInt) throws {
        try (self as String).writeKeepingMarks(
            to: url, atomically: useAuxiliaryFile, encoding: String.Encoding(rawValue: enc))
    }

    /// Writes the text and keeps marks; see `writeKeepingMarks(to:atomically:encoding:)`.
    public func write(
        toFile path: String, atomically useAuxiliaryFile: Bool, encoding enc: UInt
    ) throws {
        try write(to: URL(fileURLWithPath: path), atomically: useAuxiliaryFile, encoding: enc)
    }
}

extension StringProtocol {
    /// Writes the text and keeps marks; see `writeKeepingMarks(to:atomically:encoding:)`.
    public func write(
        to url: URL, atomically useAuxiliaryFile: Bool, encoding: String.Encoding
    ) throws {
        try writeKeepingMarks(to: url, atomically: useAuxiliaryFile, encoding: encoding)
    }

    /// Writes the text and keeps marks; see `writeKeepingMarks(to:atomically:encoding:)`.
    public func write(
        toFile path: some StringProtocol, atomically useAuxiliaryFile: Bool,
        encoding: String.Encoding
    ) throws {
        try writeKeepingMarks(
            to: URL(atPath: String(path)), atomically: useAuxiliaryFile,
            encoding: encoding)
    }
}
#endif
