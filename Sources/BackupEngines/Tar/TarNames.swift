import SystemCalls
import SystemPackage

/// The names of the files of a repository of archives.
enum TarNames {
    /// The file that identifies the directory as a repository.
    static let config: FilePath = "config"
    /// The file that a process locks while it writes to the repository.
    static let lock: FilePath = "lock"

    private static let archiveSuffix = Array(".tar.zst".utf8)
    private static let manifestSuffix = Array(".manifest.jsonl.zst".utf8)
    private static let unfinishedSuffix = Array(".unfinished".utf8)
    private static let identifierLength = 16

    /// Returns the name of a snapshot's archive.
    static func archive(_ identifier: String) -> FilePath {
        FilePath(bytes: Array(identifier.utf8) + archiveSuffix)
    }

    /// Returns the name of a snapshot's manifest.
    static func manifest(_ identifier: String) -> FilePath {
        FilePath(bytes: Array(identifier.utf8) + manifestSuffix)
    }

    /// Returns the temporary name of a file until it is complete.
    static func unfinished(_ name: FilePath) -> FilePath {
        FilePath(bytes: name.bytes + unfinishedSuffix)
    }

    /// Returns the identifier of the snapshot whose manifest has this name; nil for any other name.
    static func snapshot(ofManifest name: [UInt8]) -> String? {
        identifier(name, before: manifestSuffix)
    }

    /// Returns the identifier of the snapshot whose archive has this name; nil for any other name.
    static func snapshot(ofArchive name: [UInt8]) -> String? {
        identifier(name, before: archiveSuffix)
    }

    /// Whether a name is that of an unfinished file, which only this program uses.
    static func isUnfinished(_ name: [UInt8]) -> Bool {
        guard ends(name, with: unfinishedSuffix) else { return false }
        let finished = Array(name.dropLast(unfinishedSuffix.count))
        return snapshot(ofManifest: finished) != nil || snapshot(ofArchive: finished) != nil
    }

    /// Returns a new identifier: 64 random bits, in hexadecimal.
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
