import SystemCalls
import SystemPackage

extension Restic {
    /// Returns the command line of restic that takes an item out of snapshots.
    ///
    /// - Parameters:
    ///   - path: the absolute path as it was backed up.
    ///   - keepsDirectory: whether the item is a directory whose own entry stays, as it does where a
    ///     mark excludes it.
    ///   - passwordFile: the file with the password, if one is known.
    package func rewriting(
        _ path: [UInt8], keepsDirectory: Bool, in snapshots: [Snapshot], passwordFile: FilePath?
    ) -> [[UInt8]] {
        let excluded = pattern(path) + (keepsDirectory ? Array("/*".utf8) : [])
        var command = ["restic"].map { Array($0.utf8) }
        // Any other location may contain a password, and comes from the environment.
        if let directory = repository.directory {
            command += [Array("--repo".utf8), directory.bytes]
        }
        if let file = passwordFile { command += [Array("--password-file".utf8), file.bytes] }
        command += ["rewrite", "--forget", "--exclude"].map { Array($0.utf8) } + [excluded]
        return command + snapshots.map { Array($0.shortIdentifier.utf8) }
    }
}
