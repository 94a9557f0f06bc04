import SystemPackage
import TextFormats

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
                advice: "name the directory that resval-backup init made", path: path)
        }
        guard version == Self.version else {
            throw BackupError(
                .damaged, "the repository was made by another version of resval-backup",
                advice: "use that version", path: path)
        }
    }
}
