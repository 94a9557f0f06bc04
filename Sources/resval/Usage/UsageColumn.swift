import UsageReporting

/// A sum of bytes that `usage` knows of each directory, with everything in it: its JSON has all of them,
/// and the screen and the page those that have a title.
struct UsageColumn: Sendable {
    /// What the bytes are, behind a size; nil where the screen and the page divide them by reasons.
    let title: String?
    let field: String
    let sum: @Sendable (UsageDirectory) -> Int64

    static let all = [
        UsageColumn(title: "in files", field: "apparentBytes") { $0.apparent },
        UsageColumn(title: "on disk", field: "allocatedBytes") { $0.allocated },
        UsageColumn(title: "freed if deleted", field: "freedBytes") { $0.freed },
        UsageColumn(title: nil, field: "excludedBytes") { $0.excluded },
        UsageColumn(title: nil, field: "purgeableBytes") { $0.allocated(.purgeable) },
        UsageColumn(title: nil, field: "protectedBytes") { $0.allocated(.protected) },
    ]

    static let titled = all.filter { $0.title != nil }
}
