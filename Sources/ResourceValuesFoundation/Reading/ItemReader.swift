#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

/// Reads the values of one item. What several keys need is asked of the kernel once.
struct ItemReader {
    let url: URL
    let target: CallTarget
    private var knownStatus: FileStatus?

    init(_ url: URL, _ target: CallTarget) {
        self.url = url
        self.target = target
    }

    /// The values of some keys, those that are nil left out.
    ///
    /// The item's status is asked for even where no key needs it and no other call would tell that
    /// there is no such item.
    mutating func values(
        _ keys: some Collection<URLResourceKey>
    ) throws -> URLResourceValues {
        var values = URLResourceValues(capacity: keys.count)
        for key in keys {
            guard let known = key.known, let value = try value(known) else { continue }
            values.append(value, for: known)
        }
        _ = try status()
        return values
    }

    /// The item's status: one `statx(2)`, however often it is asked for.
    mutating func status() throws(FileError) -> FileStatus {
        if let knownStatus { return knownStatus }
        do throws(Errno) {
            let status = try target.status()
            knownStatus = status
            return status
        } catch {
            throw .readingStatus(error, of: nil)
        }
    }

    private mutating func value(_ key: KnownKey) throws -> PropertyValue? {
        switch key {
        case .isExcludedFromBackup:
            try target.value(for: .isExcludedFromBackup).map { .boolean($0) }
        case .isPurgeable: try target.value(for: .isPurgeable).map { .boolean($0) }
        case .fileProtection:
            try target.value(for: .fileProtection).map { .object(URLFileProtection($0)) }
        default: try status().value(key)
        }
    }
}
#endif
