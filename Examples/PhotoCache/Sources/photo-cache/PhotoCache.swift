import FoundationNetworking
import ResourceValuesDropIn

/// Photos of a server, stored in the user's caches. Each can be downloaded again, so it may be deleted
/// whenever space is short, by this program or by others.
struct PhotoCache {
    /// Where a photo came from.
    enum Source: String {
        case cache = "cached"
        case server = "downloaded and cached"
        case serverOnly = "downloaded, not cached: space is short"
    }

    let directory: URL
    let settings: Settings

    init(settings: Settings) throws {
        self.settings = settings
        directory = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
            .appendingPathComponent("photo-cache", isDirectory: true)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        // Also where the user's caches are in a directory that is backed up.
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try directory.setResourceValues(values)
    }

    /// Returns a photo from the cache, or else from the server.
    func photo(_ name: String, from server: URL) async throws -> (data: Data, source: Source) {
        let file = try file(for: name)
        if let data = try cachedPhoto(at: file) { return (data, .cache) }
        let data = try await download(server.appendingPathComponent(name))
        guard try hasSpace(for: data.count) else { return (data, .serverOnly) }
        try store(data, at: file)
        return (data, .server)
    }

    /// The cached photos with their sizes on the disk in bytes, sorted by name.
    func contents() throws -> [(name: String, size: Int, isPurgeable: Bool)] {
        let keys: [URLResourceKey] = [.totalFileAllocatedSizeKey, .isPurgeableKey]
        return try FileManager.default.contentsOfDirectory(
            at: directory, includingPropertiesForKeys: keys, options: .skipsHiddenFiles
        ).map { file in
            let values = try file.resourceValues(forKeys: keys)
            return (
                file.lastPathComponent, values.totalFileAllocatedSize ?? 0,
                values.isPurgeable ?? false
            )
        }.sorted { $0.name < $1.name }
    }

    /// A name may come from anywhere: it must not lead out of the cache.
    private func file(for name: String) throws -> URL {
        guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/") else {
            throw CocoaError(.fileReadInvalidFileName)
        }
        return directory.appendingPathComponent(name)
    }

    /// Reads a cached photo, and notes that it was used: many volumes do not keep the time of reading.
    private func cachedPhoto(at file: URL) throws -> Data? {
        do {
            let data = try Data(contentsOf: file)
            var values = URLResourceValues()
            values.contentAccessDate = Date()
            try file.setResourceValues(values)
            return data
        } catch let error as CocoaError
            where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile
        {
            // Not cached, or deleted just now.
            return nil
        }
    }

    private func download(_ url: URL) async throws -> Data {
        var request = URLRequest(url: url)
        request.setValue("Bearer \(settings.token)", forHTTPHeaderField: "Authorization")
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else {
            let description = "the server answers with status \(status)"
            throw URLError(
                .badServerResponse, userInfo: [NSLocalizedDescriptionKey: description])
        }
        return data
    }

    /// Whether a cached photo leaves the volume with the space that the user wants to keep.
    private func hasSpace(for size: Int) throws -> Bool {
        let values = try directory.resourceValues(forKeys: [
            .volumeAvailableCapacityForOpportunisticUsageKey
        ])
        let capacity = values.volumeAvailableCapacityForOpportunisticUsage ?? 0
        return capacity - Int64(size) > settings.spaceToKeep
    }

    /// The photo has its name once it is complete. Without the mark it would only be kept too long.
    private func store(_ data: Data, at file: URL) throws {
        try data.write(to: file, options: .atomic)
        var values = URLResourceValues()
        values.isPurgeable = true
        try file.setResourceValues(values)
    }
}
