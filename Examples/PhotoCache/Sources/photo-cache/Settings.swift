import ResourceValuesDropIn

/// What the user has set. It contains a secret, so no backup may store it in plaintext.
struct Settings: Codable {
    /// The server's password for this user.
    var token: String
    /// How much the cache may take, in bytes.
    var cacheSize: Int64
    /// The space for opportunistic use that caching leaves on the volume, in bytes.
    var spaceToKeep: Int64

    private static var file: URL {
        FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
            .appendingPathComponent("photo-cache/settings.json")
    }

    static func load() throws -> Settings {
        try JSONDecoder().decode(Settings.self, from: Data(contentsOf: file))
    }

    func save() throws {
        try FileManager.default.createDirectory(
            at: Self.file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.protectionKey: FileProtectionType.complete])
        try JSONEncoder().encode(self)
            .write(to: Self.file, options: [.atomic, .completeFileProtection])
    }

    /// The protection class that the stored settings have.
    static func protection() throws -> URLFileProtection {
        try file.resourceValues(forKeys: [.fileProtectionKey]).fileProtection ?? .none
    }
}
