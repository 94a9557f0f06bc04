import EffectiveValues
import Eviction
import SystemCalls
import SystemPackage

/// What was read of a kept snapshot before any of its files is downloaded.
struct FetchedSnapshot: Sendable {
    /// All its files.
    let files: [KeptFile]
    /// The contents of files that came with the record, by their paths.
    var contents: [[UInt8]: [UInt8]] = [:]
}

extension FileDownloading {
    /// The most content that is read together with the record, in bytes.
    private static let largestFetch: Int64 = 64 << 20

    /// Reads a snapshot's record. If all its files are wanted and they are small, their contents are read
    /// in the same pass, which saves half of the time.
    ///
    /// - Parameter wanted: the files to download.
    func fetch(
        _ wanted: [FoundPlaceholder], of snapshot: Snapshot
    ) async throws(BackupError) -> FetchedSnapshot {
        var contents: [[UInt8]: [UInt8]] = [:]
        let size = wanted.reduce(0 as Int64) { $0.addingSaturating($1.status.size) }
        if !isDryRun, let record = snapshot.recordPath, size <= Self.largestFetch,
            Set(wanted.map(\.record.item)).count == snapshot.pathCount
        {
            contents = try await readAll(of: snapshot)
            if let bytes = contents.removeValue(forKey: record.path),
                let files = KeptFile.files(inRecord: bytes)
            {
                return FetchedSnapshot(files: files, contents: contents)
            }
        }
        return FetchedSnapshot(
            files: try await holder.keptFiles(of: snapshot), contents: contents)
    }

    /// Reads as many files of a snapshot as arrive whole, with no more content than memory is meant for.
    private func readAll(of snapshot: Snapshot) async throws(BackupError) -> [[UInt8]: [UInt8]] {
        let found = Monitor<(contents: [[UInt8]: [UInt8]], left: Int64)>(([:], Self.largestFetch))
        do throws(BackupError) {
            try await holder.readContents(below: "/", in: snapshot.identifier) { path in
                let left = found.withLock { $0.left }
                guard !shouldStop(), left > 0 else { return nil }
                return GatheredContent(limit: Int(left)) { content in
                    found.withLock {
                        $0.contents[path] = content
                        $0.left -= Int64(content.count)
                    }
                }
            }
        } catch  where error.code != .interrupted {
            // What did not arrive is read by itself, which tells why.
        }
        return found.withLock { $0.contents }
    }
}
