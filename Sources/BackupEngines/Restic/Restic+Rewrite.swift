import SystemCalls
import SystemPackage

/// How items are taken out of snapshots that contain them.
package struct SnapshotRewriting: Sendable {
    /// The version of the installed engine; nil when it cannot be told.
    package let version: String?
    /// Whether this version has the command.
    package let isSupported: Bool
    /// The command line.
    package let command: [[UInt8]]
}

extension Restic {
    /// Returns the restic command that takes an item out of snapshots.
    ///
    /// - Parameters:
    ///   - path: the absolute path as it was backed up.
    ///   - keepsDirectory: whether the item is a directory whose own entry stays, as it does where a
    ///     mark excludes it.
    ///   - passwordFile: the file with the password, if one is known.
    package func rewriting(
        _ path: [UInt8], keepsDirectory: Bool, in snapshots: [Snapshot], passwordFile: FilePath?
    ) async throws(BackupError) -> SnapshotRewriting {
        let output = try await run(ResticCommand("version"), reading: WholeOutput())
        let words = String(decoding: output.bytes, as: UTF8.self).split(separator: " ")
        let version = words.first == "restic" ? words.dropFirst().first.map(String.init) : nil
        let numbers = version?.split(separator: ".").compactMap { Int($0) } ?? []
        let excluded = pattern(path) + (keepsDirectory ? Array("/*".utf8) : [])
        var command = ["restic"].map { Array($0.utf8) }
        // Any other location may contain a password, and comes from the environment.
        if let directory = repository.directory {
            command += [Array("--repo".utf8), directory.bytes]
        }
        if let file = passwordFile { command += [Array("--password-file".utf8), file.bytes] }
        command += ["rewrite", "--forget", "--exclude"].map { Array($0.utf8) } + [excluded]
        command += snapshots.map { Array($0.shortIdentifier.utf8) }
        return SnapshotRewriting(
            version: version,
            isSupported: numbers.count > 1 && (numbers[0], numbers[1]) >= firstVersion,
            command: command)
    }
}

/// The first version of restic that has the command `rewrite`.
private let firstVersion = (0, 15)
