#if !canImport(Darwin)
import ResourceValuesFoundation

extension Data {
    /// Writes the data and keeps marks; see `writeKeepingMarks(to:options:)`.
    public func write(to url: URL, options: Data.WritingOptions = []) throws {
        try writeKeepingMarks(to: url, options: options)
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
