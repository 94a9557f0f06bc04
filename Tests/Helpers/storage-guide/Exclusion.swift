import ResourceValuesDropIn

struct PodcastDownload {
    func markExcludedFromBackup(url: URL) throws {
        var resourceValues = URLResourceValues()
        resourceValues.isExcludedFromBackup = true
        try url.setResourceValues(resourceValues)
    }

    func downloadPodcast(url: URL) throws {
        let appSupportURL = FileManager.default.urls(
            for: .applicationSupportDirectory,
            in: .userDomainMask
        )[0]

        let podcastURL =
            appSupportURL
            .appendingPathComponent("Podcasts")
            .appendingPathComponent(url.lastPathComponent)

        let data = try Data(contentsOf: url)
        try data.write(to: podcastURL)

        try markExcludedFromBackup(url: podcastURL)
    }
}

/// `podcast URL`: stores what is at the URL.
func runPodcastDownload(_ arguments: [String]) throws {
    guard let url = URL(string: arguments[0]) else { throw CocoaError(.fileReadInvalidFileName) }
    try PodcastDownload().downloadPodcast(url: url)
}

struct ExclusionCheck {
    func isExcludedFromBackup(url: URL) -> Bool {
        let values = try? url.resourceValues(forKeys: [.isExcludedFromBackupKey])
        return values?.isExcludedFromBackup ?? false
    }
}

struct ThrowingExclusionCheck {
    func isExcludedFromBackup(_ url: URL) throws -> Bool {
        let values = try url.resourceValues(forKeys: [.isExcludedFromBackupKey])
        return values.isExcludedFromBackup ?? false
    }
}

/// `is-excluded PATH...`: asks both checks about each item.
func runExclusionChecks(_ arguments: [String]) throws {
    for path in arguments {
        let url = URL(fileURLWithPath: path)
        print(ExclusionCheck().isExcludedFromBackup(url: url), terminator: " ")
        print(try ThrowingExclusionCheck().isExcludedFromBackup(url))
    }
}

struct Exclusion {
    let cachesURL: URL

    func excludeFromBackup(_ url: URL) throws {
        var resourceValues = URLResourceValues()
        resourceValues.isExcludedFromBackup = true
        var mutableURL = url
        try mutableURL.setResourceValues(resourceValues)
    }

    func run() throws {
        let largeCache = cachesURL.appendingPathComponent("video-cache")
        try excludeFromBackup(largeCache)
    }
}

/// `exclude DIRECTORY`: excludes its entry `video-cache`.
func runExclusion(_ arguments: [String]) throws {
    try Exclusion(cachesURL: URL(fileURLWithPath: arguments[0])).run()
}

struct OfflineData {
    let appSupportURL: URL
    let downloadedData = Data("tiles".utf8)

    func excludeFromBackup(_ url: URL) throws {
        try Exclusion(cachesURL: url).excludeFromBackup(url)
    }

    func run() throws {
        let offlineDataURL = appSupportURL.appendingPathComponent("OfflineData")
        try FileManager.default.createDirectory(
            at: offlineDataURL, withIntermediateDirectories: true
        )
        try excludeFromBackup(offlineDataURL)
        try downloadedData.write(to: offlineDataURL.appendingPathComponent("map-tiles.db"))
    }
}

/// `offline DIRECTORY`: stores data in it that persists, but is not backed up.
func runOfflineData(_ arguments: [String]) throws {
    try OfflineData(appSupportURL: URL(fileURLWithPath: arguments[0])).run()
}
