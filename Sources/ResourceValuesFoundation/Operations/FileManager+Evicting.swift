#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

extension FileManager {
    /// Whether the item's content is in a snapshot only, because it was evicted.
    ///
    /// - Returns: false also when there is no item.
    public func isUbiquitousItem(at url: URL) -> Bool {
        do {
            return try url.resourceValues(forKeys: [.isUbiquitousItemKey]).isUbiquitousItem == true
        } catch {
            return false
        }
    }

    /// Frees the blocks of a file whose content a snapshot then holds; runs `resval-backup evict`,
    /// which lies beside the program or in a directory of `PATH`, and waits for it.
    ///
    /// The repository is `$RESVAL_BACKUP_REPOSITORY`, its password what restic's variables say. A file
    /// that is evicted already is success.
    ///
    /// - Throws: `CocoaError`: `fileNoSuchFile`, `featureUnsupported` when there is no
    ///   `resval-backup` or no repository, `fileWriteUnknown` when the file was refused. The reason is
    ///   the error's failure reason.
    public func evictUbiquitousItem(at url: URL) throws {
        try url.operate { path in
            _ = try path.withoutFollowing.checkedStatus()
            try BackupCompanion(path).runToItsEnd("evict")
        }
    }

    /// Begins to bring an evicted file's content back, and returns before it is there; runs
    /// `resval-backup download`, as ``evictUbiquitousItem(at:)`` does.
    ///
    /// Once it is there, `ubiquitousItemDownloadingStatus` is `current`; why it did not come tells
    /// `ubiquitousItemDownloadingError`. An item that is not evicted is success.
    ///
    /// - Throws: `CocoaError`: `fileNoSuchFile`, `featureUnsupported` when there is no
    ///   `resval-backup`.
    public func startDownloadingUbiquitousItem(at url: URL) throws {
        try url.operate { path in
            let status = try path.withoutFollowing.checkedStatus()
            guard isUbiquitousItem(at: url) else { return }
            let companion = try BackupCompanion(path)
            // Who waits for the download must not take the last one's failure for this one's.
            try EvictionState.forgetFailure(status)
            try companion.begin("download")
        }
    }
}

extension SymbolicLinkPath {
    fileprivate func checkedStatus() throws(FileError) -> FileStatus {
        do throws(Errno) {
            return try status()
        } catch {
            throw .readingStatus(error, of: path)
        }
    }
}
#endif
