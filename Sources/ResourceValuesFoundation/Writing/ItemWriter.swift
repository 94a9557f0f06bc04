#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemCalls

/// Stores assigned values on one item.
struct ItemWriter {
    /// The keys not stored yet.
    private(set) var pending: [KnownKey]
    private let values: URLResourceValues

    init(_ values: URLResourceValues) {
        self.values = values
        pending = values.settableKeys
    }

    /// The keys not stored yet, as errors name them.
    var pendingKeys: [URLResourceKey] { pending.map { URLResourceKey($0) } }

    /// Stores the values.
    mutating func write(to target: CallTarget) throws {
        let marks: [KnownKey] = [.isExcludedFromBackup, .isPurgeable, .fileProtection]
        try target.apply(try marks.compactMap(change))
        pending.removeAll { marks.contains($0) }
    }

    private func change(_ key: KnownKey) throws(FileError) -> MarkChange? {
        switch (key, values[key]) {
        case (.isExcludedFromBackup, .boolean(let value)?):
            return MarkChange(.isExcludedFromBackup, to: value)
        case (.isPurgeable, .boolean(let value)?): return MarkChange(.isPurgeable, to: value)
        case (.fileProtection, .object(let value)?):
            guard let protection = (value as? URLFileProtection)?.stored else {
                throw FileError(code: .unsupportedFileKind, message: "unknown protection class")
            }
            return MarkChange(.fileProtection, to: protection)
        default: return nil
        }
    }
}
#endif
