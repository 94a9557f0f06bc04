import SystemCalls
import SystemPackage
import TextFormats

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

/// The file that identifies a directory as a repository of archives: one line of JSON.
enum TarConfig {
    private static let format = "resval-tar"
    private static let version: Int64 = 1

    /// The contents of the file.
    static var bytes: [UInt8] {
        var line = JSONLine()
        line.add("format", format)
        line.add("version", version)
        return line.ended()
    }

    /// Verifies that this program can read the repository.
    ///
    /// - Throws: ``BackupError``: `noRepository` when the bytes are not the file of such a
    ///   repository, `damaged` when its version is another one.
    static func check(_ bytes: [UInt8], path: FilePath) throws(BackupError) {
        var format = ""
        var version: Int64 = 0
        var scanner = JSONScanner(bytes[...])
        do throws(JSONError) {
            try scanner.forEachField { scanner, name throws(JSONError) in
                switch name {
                case "format": format = try scanner.text()
                case "version": version = try scanner.integer()
                default: break
                }
            }
        } catch {
            format = ""
        }
        guard format == Self.format else {
            throw BackupError(
                .noRepository, "is not the config of a repository of archives",
                advice: "name a directory that was made by: resval-backup init", path: path)
        }
        guard version == Self.version else {
            throw BackupError(
                .damaged, "the repository was made by another version of resval-backup",
                advice: "use that version", path: path)
        }
    }
}

/// A new file of a repository that has a temporary name until it is complete.
///
/// The name identifies what a killed process leaves.
final class UnfinishedFile {
    /// The file, open for reading and writing.
    var descriptor: FileDescriptor { owned.descriptor }
    /// The final name.
    let name: FilePath
    private let owned: OwnedDescriptor
    private let directory: FileDescriptor
    private var isPublished = false

    /// Creates an empty file that only this user may read.
    ///
    /// - Parameter directory: must stay open while this object exists.
    init(_ name: FilePath, in directory: FileDescriptor) throws(Errno) {
        self.name = name
        self.directory = directory
        owned = OwnedDescriptor(
            try makeFile(TarNames.unfinished(name), in: directory, permissions: 0o600))
    }

    deinit {
        // A file that cannot be removed is removed by the next run.
        if !isPublished {
            try? removeItem(TarNames.unfinished(name), in: directory, isDirectory: false)
        }
    }

    /// Opens the file again, to read it from its start.
    func openAgain() throws(Errno) -> OwnedDescriptor {
        OwnedDescriptor(try reopenFile(descriptor, flags: .readOnly))
    }

    /// Gives the file its final name.
    func publish(_ condition: NamingCondition = .absent) throws(Errno) {
        try renameItem(
            TarNames.unfinished(name), in: directory, to: name, in: directory, condition)
        isPublished = true
    }
}
