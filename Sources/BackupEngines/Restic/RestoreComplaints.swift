/// What restic said about single items of a restore.
struct RestoreComplaints: Sendable {
    private var causes: [[UInt8]: String] = [:]

    private static let start = Array("ignoring error for ".utf8)
    private static let separator = Array(": ".utf8)

    /// Reads the lines `ignoring error for PATH: CAUSE`. A path that holds a newline is not found
    /// here; its item is named without a cause.
    init(_ errors: ErrorOutput) {
        for line in errors.lines where line.starts(with: Self.start) {
            let text = line.dropFirst(Self.start.count)
            guard let colon = text.firstRange(of: Self.separator) else { continue }
            let cause = String(decoding: text[colon.upperBound...], as: UTF8.self)
            causes[Array(text[..<colon.lowerBound])] = cause
        }
    }

    /// Why an item failed; nil when restic did not say.
    subscript(path: [UInt8]) -> String? { causes[path] }
}
