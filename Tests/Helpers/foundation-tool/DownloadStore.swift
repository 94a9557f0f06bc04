import ResourceValuesDropIn

/// `download-store DIRECTORY`: saves downloads and thumbnails below the directory, trims the thumbnails
/// and prints what it did. Written as it would be for iOS.
func runDownloadStore(_ arguments: [String]) throws {
    let root = URL(fileURLWithPath: arguments[0], isDirectory: true)
    let store = try DownloadStore(in: root)
    let episode = try store.save(Data(repeating: 7, count: 100_000), as: "episode.mp3")
    let copy = store.directory.appendingPathComponent("copy.mp3")
    try FileManager.default.copyItem(at: episode, to: copy)

    let cache = try ThumbnailCache(in: root)
    for number in 1...4 {
        let name = "\(number).png"
        try cache.store(Data(repeating: 1, count: 1000), as: name)
        let age = TimeInterval(number) * 1000
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -age)],
            ofItemAtPath: cache.directory.appendingPathComponent(name).path)
    }
    let removed = try cache.trim(olderThan: 3500, to: 2000)

    let values = try store.directory.resourceValues(forKeys: [
        .isExcludedFromBackupKey, .fileProtectionKey,
    ])
    print("excluded: \(values.isExcludedFromBackup ?? false)")
    print("protection: \((values.fileProtection ?? .none).rawValue)")
    for url in [episode, copy] {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        switch attributes[.protectionKey] as? FileProtectionType {
        case .complete?: print("\(url.lastPathComponent): complete")
        default: print("\(url.lastPathComponent): not protected")
        }
    }
    print("size: \(try store.size() >= 200_000)")
    print("removed: \(removed.joined(separator: " "))")
}

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
