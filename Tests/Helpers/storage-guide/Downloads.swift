import FoundationNetworking
import ResourceValuesDropIn

struct OptionalDownload {
    let cachesDirectory = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]

    func downloadOptionalContent(url: URL, size: Int64) async throws {
        let homeURL = FileManager.default.homeDirectoryForCurrentUser
        let values = try homeURL.resourceValues(forKeys: [
            .volumeAvailableCapacityForOpportunisticUsageKey
        ])

        guard let available = values.volumeAvailableCapacityForOpportunisticUsage,
            size < available
        else {
            print("Skipping download - low storage")
            return
        }

        let data = try await URLSession.shared.data(from: url).0
        try data.write(to: cachesDirectory.appendingPathComponent(url.lastPathComponent))
    }
}

/// `download-optional BYTES URL`: downloads what is said to have that size, if there is space for it.
func runOptionalDownload(_ arguments: [String]) async throws {
    try await OptionalDownload().downloadOptionalContent(
        url: try url(arguments[1]), size: Int64(arguments[0]) ?? 0)
}

struct MediaDownload {
    class MediaDownloader {
        func downloadMedia(url: URL) async throws {
            let data = try await URLSession.shared.data(from: url).0

            let mediaURL =
                applicationSupportDirectory
                .appendingPathComponent("Downloads")
                .appendingPathComponent(url.lastPathComponent)

            try data.write(to: mediaURL)

            var resourceValues = URLResourceValues()
            resourceValues.isExcludedFromBackup = true
            try mediaURL.setResourceValues(resourceValues)
        }
    }

    static let applicationSupportDirectory = FileManager.default.urls(
        for: .applicationSupportDirectory, in: .userDomainMask)[0]
}

/// `media URL`: downloads what persists, but is not backed up.
func runMediaDownload(_ arguments: [String]) async throws {
    try await MediaDownload.MediaDownloader().downloadMedia(url: try url(arguments[0]))
}

struct CacheDownload {
    /// Mended: the guide's closure has no `in`, and its task is never resumed.
    static func start(_ cacheURL: URL) -> URLSessionDownloadTask {
        let cacheDownloadTask = URLSession.shared.downloadTask(with: cacheURL) {
            fileURL, response, error in

            guard let temporaryURL = fileURL else { return }
            do {
                let destinationURL = URL.cachesDirectory.appendingPathComponent(
                    temporaryURL.lastPathComponent)
                try FileManager.default.moveItem(at: temporaryURL, to: destinationURL)
            } catch {
                print("not moved: \(error)")
            }
        }
        cacheDownloadTask.resume()
        return cacheDownloadTask
    }
}

/// `download-task URL`: moves what is downloaded to the caches.
func runDownloadTask(_ arguments: [String]) async throws {
    let task = CacheDownload.start(try url(arguments[0]))
    // The task is completed after its handler has returned.
    while task.state != .completed { try await Task.sleep(for: .milliseconds(5)) }
    print("done")
}

private func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw CocoaError(.fileReadInvalidFileName) }
    return url
}

extension URL {
    /// The directory for caches, which Foundation on Linux has no constant for.
    fileprivate static var cachesDirectory: URL {
        FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
    }
}
