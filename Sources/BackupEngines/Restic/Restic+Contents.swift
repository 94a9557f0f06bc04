import SystemCalls
import SystemPackage

extension Restic {
    /// Passes the contents of all files below a directory to consumers, by one `restic dump`, which
    /// writes a tar archive.
    ///
    /// A file whose content does not arrive whole may be damaged, absent, or behind one that is: its
    /// consumer is not finished, and ``readContent(of:in:with:)`` tells why.
    ///
    /// - Parameters:
    ///   - directory: its absolute path in the snapshot.
    ///   - snapshot: the snapshot's identifier, or its first digits.
    ///   - consumer: returns the consumer of a file's content, given the file's absolute path in the
    ///     snapshot; nil to skip the file. When a consumer throws, the rest of its file is skipped.
    /// - Throws: ``BackupError``, possibly after files were passed.
    func readContents(
        below directory: FilePath, in snapshot: String,
        with consumer: @escaping @Sendable (_ path: [UInt8]) -> (any OutputConsumer)?
    ) async throws(BackupError) {
        let dump = ResticCommand(
            "dump", words("--archive=tar"), on: words(snapshot) + [directory.bytes])
        _ = try await run(dump, reading: PaxStream(member: consumer))
    }
}
