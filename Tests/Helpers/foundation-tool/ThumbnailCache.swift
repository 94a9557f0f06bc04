import ResourceValuesDropIn

/// Images that can be made again: they may go when space is short, and go when there are too many.
struct ThumbnailCache {
    let directory: URL

    init(in parent: URL) throws {
        directory = parent.appendingPathComponent("Thumbnails", isDirectory: true)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    func store(_ image: Data, as name: String) throws {
        let url = directory.appendingPathComponent(name)
        try image.write(to: url, options: .atomic)
        var values = URLResourceValues()
        values.isPurgeable = true
        try url.setResourceValues(values)
    }

    /// Removes what is older than `age` seconds, then the oldest until at most `limit` bytes remain.
    func trim(olderThan age: TimeInterval, to limit: Int) throws -> [String] {
        let keys: [URLResourceKey] = [.contentModificationDateKey, .fileSizeKey]
        var files = try FileManager.default.contentsOfDirectory(
            at: directory, includingPropertiesForKeys: keys, options: [.skipsHiddenFiles]
        ).map { url in
            let values = try url.resourceValues(forKeys: Set(keys))
            return (
                url: url, date: values.contentModificationDate ?? .distantPast,
                size: values.fileSize ?? 0
            )
        }.sorted { $0.date > $1.date }
        var size = files.map(\.size).reduce(0, +)
        let oldest = Date(timeIntervalSinceNow: -age)
        var removed: [String] = []
        while let last = files.last, last.date < oldest || size > limit {
            try FileManager.default.removeItem(at: last.url)
            removed.append(last.url.lastPathComponent)
            size -= last.size
            files.removeLast()
        }
        return removed
    }
}
