import Eviction

/// The digest of a manifest's first line, in the line itself: the digest in the last line does not
/// cover the first one, which is rewritten when tags change.
enum HeadSeal {
    private static let start = Array(#","headSHA256":""#.utf8)
    private static let end = Array("\"}\n".utf8)
    private static let bareEnd = Array("}\n".utf8)
    private static let length = start.count + 64 + end.count

    /// Returns the line with a last field added that contains the SHA-256 of the line without that
    /// field.
    ///
    /// - Parameter line: a JSON object with a newline.
    static func sealed(_ line: [UInt8]) -> [UInt8] {
        line.dropLast(bareEnd.count) + start + Array(SHA256.digest(of: line).utf8) + end
    }

    /// Whether a line has not changed since it was sealed; true for a line without the field.
    static func fits(_ line: [UInt8]) -> Bool {
        let seal = Array(line.suffix(length))
        guard seal.starts(with: start) else { return true }
        return line == sealed(line.dropLast(length) + bareEnd)
    }
}
