import ResourceValuesDropIn

/// An image of UIKit, with nothing in it but its bytes.
struct UIImage {
    let bytes: Data?

    func pngData() -> Data? { bytes }
}

struct ThumbnailCaching {
    func markAsPurgeable(url: URL) throws {
        var resourceValues = URLResourceValues()
        resourceValues.isPurgeable = true
        try url.setResourceValues(resourceValues)
    }

    func cacheThumbnail(image: UIImage, for url: URL) throws {
        let cacheURL = FileManager.default.urls(
            for: .cachesDirectory,
            in: .userDomainMask
        )[0]

        let thumbnailURL = cacheURL.appendingPathComponent(url.lastPathComponent)

        try image.pngData()?.write(to: thumbnailURL)

        try markAsPurgeable(url: thumbnailURL)

        var resourceValues = URLResourceValues()
        resourceValues.isExcludedFromBackup = true
        try thumbnailURL.setResourceValues(resourceValues)
    }
}

/// `thumbnail NAME [TEXT]`: caches the text, or an image without data, under the name.
func runThumbnail(_ arguments: [String]) throws {
    let image = UIImage(bytes: arguments.dropFirst().first.map { Data($0.utf8) })
    try ThumbnailCaching().cacheThumbnail(image: image, for: URL(fileURLWithPath: arguments[0]))
}

struct PrioritySaving {
    func saveFile(data: Data, priority: FilePriority) throws {
        let url: URL

        switch priority {
        case .essential:
            url = FileManager.default.urls(
                for: .documentDirectory,
                in: .userDomainMask
            )[0].appendingPathComponent("important.dat")

        case .cacheable:
            url = FileManager.default.urls(
                for: .cachesDirectory,
                in: .userDomainMask
            )[0].appendingPathComponent("cache.dat")

        case .temporary:
            url = FileManager.default.temporaryDirectory
                .appendingPathComponent("temp.dat")
        }

        try data.write(to: url)

        if priority == .cacheable {
            var resourceValues = URLResourceValues()
            resourceValues.isExcludedFromBackup = true
            try url.setResourceValues(resourceValues)
        }
    }

    enum FilePriority {
        case essential
        case cacheable
        case temporary
    }
}

/// `priority TEXT`: saves the text with each priority.
func runPrioritySaving(_ arguments: [String]) throws {
    for priority: PrioritySaving.FilePriority in [.essential, .cacheable, .temporary] {
        try PrioritySaving().saveFile(data: Data(arguments[0].utf8), priority: priority)
    }
}

/// `cache-manager KEY TEXT`: adds the text to the cache.
func runCacheManager(_ arguments: [String]) throws {
    try CacheManaging.CacheManager().addToCache(data: Data(arguments[1].utf8), key: arguments[0])
}

struct CacheManaging {
    static func getCacheURL(for key: String) -> URL {
        FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
            .appendingPathComponent(key)
    }

    class CacheManager {
        func addToCache(data: Data, key: String) throws {
            let cacheURL = getCacheURL(for: key)

            if shouldCleanupCache(addingSize: Int64(data.count)) {
                cleanupOldestFiles(targetSize: 100 * 1_000_000)
            }

            try data.write(to: cacheURL)
        }

        func shouldCleanupCache(addingSize: Int64) -> Bool {
            let homeURL = FileManager.default.homeDirectoryForCurrentUser
            guard
                let values = try? homeURL.resourceValues(forKeys: [
                    .volumeAvailableCapacityForOpportunisticUsageKey
                ])
            else { return false }

            let available = values.volumeAvailableCapacityForOpportunisticUsage ?? 0

            return available < 200 * 1_000_000
        }

        func cleanupOldestFiles(targetSize: Int64) { print("cleaning up to \(targetSize) bytes") }
    }
}
