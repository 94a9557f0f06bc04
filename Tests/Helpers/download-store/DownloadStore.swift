import ResourceValuesDropIn

/// Files that can be downloaded again: backups leave them out.
struct DownloadStore {
    let directory: URL

    init(in parent: URL) throws {
        directory = parent.appendingPathComponent("Downloads", isDirectory: true)
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true,
            attributes: [.protectionKey: FileProtectionType.completeUnlessOpen])
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        var url = directory
        try url.setResourceValues(values)
    }

    /// Saves a download, if the volume has room for it.
    func save(_ data: Data, as name: String) throws -> URL {
        let values = try directory.resourceValues(
            forKeys: [.volumeAvailableCapacityForImportantUsageKey])
        guard let capacity = values.volumeAvailableCapacityForImportantUsage,
            capacity > Int64(data.count)
        else { throw CocoaError(.fileWriteOutOfSpace) }
        let url = directory.appendingPathComponent(name)
        try data.write(to: url, options: [.atomic, .completeFileProtection])
        return url
    }

    /// The space all downloads take, in bytes.
    func size() throws -> Int {
        let keys: Set<URLResourceKey> = [.isRegularFileKey, .totalFileAllocatedSizeKey]
        guard
            let enumerator = FileManager.default.enumerator(
                at: directory, includingPropertiesForKeys: Array(keys))
        else { return 0 }
        var size = 0
        for case let url as URL in enumerator {
            let values = try url.resourceValues(forKeys: keys)
            guard values.isRegularFile == true else { continue }
            size += values.totalFileAllocatedSize ?? 0
        }
        return size
    }
}
