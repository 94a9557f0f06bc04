#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

extension FileManager {
    /// Whether the item was evicted, so that its content is only in a snapshot.
    ///
    /// - Returns: `false` also when the item does not exist or cannot be read.
    public func isUbiquitousItem(at url: URL) -> Bool {
        do {
            return try url.resourceValues(forKeys: [.isUbiquitousItemKey]).isUbiquitousItem == true
        } catch {
            return false
        }
    }

    /// Stores a file's content in a snapshot and frees the file's blocks.
    ///
    /// Runs `resval-backup evict`, from the program's own directory or from a directory of `PATH`, and
    /// waits until it ends. The repository is `$RESVAL_BACKUP_REPOSITORY`, and restic's environment
    /// variables give its password. Does nothing for a file that is already evicted.
    ///
    /// - Throws: `CocoaError`: `fileNoSuchFile`, `featureUnsupported` when there is no
    ///   `resval-backup` or no repository, `fileWriteUnknown` when the file was refused; the
    ///   error's failure reason says why.
    public func evictUbiquitousItem(at url: URL) throws {
        try url.operate { path in
            _ = try path.withoutFollowing.fileStatus()
            try BackupCompanion(path).runToItsEnd("evict")
        }
    }

    /// Starts to bring an evicted file's content back, and returns without waiting for it.
    ///
    /// Runs `resval-backup download`, found as in ``evictUbiquitousItem(at:)``. When the content is
    /// back, `ubiquitousItemDownloadingStatus` is `current`; if the download fails,
    /// `ubiquitousItemDownloadingError` is the reason. Does nothing for an item that is not evicted.
    ///
    /// - Throws: `CocoaError`: `fileNoSuchFile`, `featureUnsupported` when there is no
    ///   `resval-backup`.
    public func startDownloadingUbiquitousItem(at url: URL) throws {
        try url.operate { path in
            let status = try path.withoutFollowing.fileStatus()
            guard isUbiquitousItem(at: url) else { return }
            let companion = try BackupCompanion(path)
            // A caller that waits for this download must not see the failure of an earlier one.
            try EvictionState.forgetFailure(status)
            try companion.begin("download")
        }
    }
}
#endif
