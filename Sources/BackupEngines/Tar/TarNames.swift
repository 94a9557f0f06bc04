import SystemCalls
import SystemPackage

/// The names of the files of a repository of archives.
enum TarNames {
    /// Says what the directory is.
    static let config: FilePath = "config"
    /// Held by whoever works on the repository.
    static let lock: FilePath = "lock"

    private static let archiveSuffix = Array(".tar.zst".utf8)
    private static let manifestSuffix = Array(".manifest.jsonl.zst".utf8)
    private static let unfinishedSuffix = Array(".unfinished".utf8)
    private static let identifierLength = 16

    /// The archive of a snapshot.
    static func archive(_ identifier: String) -> FilePath {
        FilePath(bytes: Array(identifier.utf8) + archiveSuffix)
    }

    /// The manifest of a snapshot.
    static func manifest(_ identifier: String) -> FilePath {
        FilePath(bytes: Array(identifier.utf8) + manifestSuffix)
    }

    /// The name a file has until it is finished.
    static func unfinished(_ name: FilePath) -> FilePath {
        FilePath(bytes: name.bytes + unfinishedSuffix)
    }

    /// The snapshot whose manifest has this name; nil for any other name.
    static func snapshot(ofManifest name: [UInt8]) -> String? {
        identifier(name, before: manifestSuffix)
    }

    /// The snapshot whose archive has this name; nil for any other name.
    static func snapshot(ofArchive name: [UInt8]) -> String? {
        identifier(name, before: archiveSuffix)
    }

    /// Whether it is the name of a file that was not finished, which only this program gives.
    static func isUnfinished(_ name: [UInt8]) -> Bool {
        guard ends(name, with: unfinishedSuffix) else { return false }
        let finished = Array(name.dropLast(unfinishedSuffix.count))
        return snapshot(ofManifest: finished) != nil || snapshot(ofArchive: finished) != nil
    }

    /// A new identifier: 64 random bits.
    static func makeIdentifier() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: identifierLength - digits.count) + digits
    }

    private static func identifier(_ name: [UInt8], before suffix: [UInt8]) -> String? {
        guard name.count == identifierLength + suffix.count, ends(name, with: suffix) else {
            return nil
        }
        let digits = name.prefix(identifierLength)
        guard digits.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else { return nil }
        return String(decoding: digits, as: UTF8.self)
    }

    private static func ends(_ name: [UInt8], with suffix: [UInt8]) -> Bool {
        name.count >= suffix.count && name.suffix(suffix.count) == suffix[...]
    }
}
