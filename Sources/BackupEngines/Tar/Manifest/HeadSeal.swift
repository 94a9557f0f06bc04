/// The sum of a manifest's first line, in the line itself: the last line's sum is not of the first
/// one, which is written anew when tags change.
enum HeadSeal {
    private static let start = Array(#","headSHA256":""#.utf8)
    private static let end = Array("\"}\n".utf8)
    private static let bareEnd = Array("}\n".utf8)
    private static let length = start.count + 64 + end.count

    /// The line with a last field that holds the SHA-256 of the line without that field.
    ///
    /// - Parameter line: a JSON object with a newline.
    static func sealed(_ line: [UInt8]) -> [UInt8] {
        line.dropLast(bareEnd.count) + start + Array(digest(of: line).utf8) + end
    }

    /// Whether a line is as it was sealed; true for one without the field.
    static func fits(_ line: [UInt8]) -> Bool {
        let seal = Array(line.suffix(length))
        guard seal.starts(with: start) else { return true }
        return line == sealed(line.dropLast(length) + bareEnd)
    }

    private static func digest(of line: [UInt8]) -> String {
        var digest = SHA256()
        digest.update(line)
        return digest.finish()
    }
}
