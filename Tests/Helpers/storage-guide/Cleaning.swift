// swift-format-ignore-file: NeverForceUnwrap
// The guide is written so.

import ResourceValuesDropIn

struct StorageMonitoring {
    class StorageMonitor {
        func checkStorageAndCleanup() {
            let homeURL = FileManager.default.homeDirectoryForCurrentUser

            guard
                let values = try? homeURL.resourceValues(forKeys: [
                    .volumeAvailableCapacityForOpportunisticUsageKey,
                    .volumeTotalCapacityKey,
                ])
            else { return }

            let availableSpace = values.volumeAvailableCapacityForOpportunisticUsage ?? 0
            let totalSpace = values.volumeTotalCapacity ?? 1

            let percentAvailable = Double(availableSpace) / Double(totalSpace)

            if percentAvailable < 0.10 {
                print("⚠️ Low storage detected, cleaning up...")
                cleanupCaches()
            }
        }

        func cleanupCaches() {
            let cacheURL = FileManager.default.urls(
                for: .cachesDirectory,
                in: .userDomainMask
            )[0]

            let fileManager = FileManager.default
            guard
                let files = try? fileManager.contentsOfDirectory(
                    at: cacheURL,
                    includingPropertiesForKeys: [.contentModificationDateKey]
                )
            else { return }

            let sortedFiles = files.sorted { url1, url2 in
                let date1 = (try? url1.resourceValues(forKeys: [.contentModificationDateKey]))?
                    .contentModificationDate
                let date2 = (try? url2.resourceValues(forKeys: [.contentModificationDateKey]))?
                    .contentModificationDate
                return (date1 ?? .distantPast) < (date2 ?? .distantPast)
            }

            for fileURL in sortedFiles.prefix(100) {
                try? fileManager.removeItem(at: fileURL)
            }
        }
    }
}

struct StorageCleaning {
    struct StorageCleaner {
        let cachesURL: URL
        let maxCacheAge: TimeInterval
        let maxCacheSize: Int64

        func removeExpiredFiles() throws {
            let contents = try FileManager.default.contentsOfDirectory(
                at: cachesURL,
                includingPropertiesForKeys: [.contentModificationDateKey, .fileSizeKey],
                options: .skipsHiddenFiles
            )
            let cutoff = Date.now.addingTimeInterval(-maxCacheAge)
            for fileURL in contents {
                let values = try fileURL.resourceValues(
                    forKeys: [.contentModificationDateKey]
                )
                if let modified = values.contentModificationDate, modified < cutoff {
                    try FileManager.default.removeItem(at: fileURL)
                }
            }
        }

        func trimToSize() throws {
            let contents = try FileManager.default.contentsOfDirectory(
                at: cachesURL,
                includingPropertiesForKeys: [.contentModificationDateKey, .fileSizeKey],
                options: .skipsHiddenFiles
            )
            let sorted = try contents.sorted { a, b in
                let aDate =
                    try a.resourceValues(forKeys: [.contentModificationDateKey])
                    .contentModificationDate ?? .distantPast
                let bDate =
                    try b.resourceValues(forKeys: [.contentModificationDateKey])
                    .contentModificationDate ?? .distantPast
                return aDate < bDate
            }
            var totalSize: Int64 = 0
            for fileURL in sorted {
                let values = try fileURL.resourceValues(forKeys: [.fileSizeKey])
                totalSize += Int64(values.fileSize ?? 0)
            }
            for fileURL in sorted {
                guard totalSize > maxCacheSize else { break }
                let values = try fileURL.resourceValues(forKeys: [.fileSizeKey])
                let fileSize = Int64(values.fileSize ?? 0)
                try FileManager.default.removeItem(at: fileURL)
                totalSize -= fileSize
            }
        }

        func performCleanup() throws {
            try removeExpiredFiles()
            try trimToSize()
        }
    }

    func run() throws {
        let cleaner = StorageCleaner(
            cachesURL: FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first!,
            maxCacheAge: 7 * 24 * 60 * 60,
            maxCacheSize: 500 * 1024 * 1024
        )
        try cleaner.performCleanup()
    }
}
