#if !canImport(Darwin)
import EffectiveValues
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

/// Whether an item was evicted by `resval-backup evict`, according to the record on it.
struct EvictionState {
    private let isEvicted: Bool
    private let isDownloading: Bool
    private let isRegularFile: Bool
    private let status: FileStatus

    /// Reads the state of an item.
    init(_ target: CallTarget, _ status: FileStatus) throws(FileError) {
        self.status = status
        isRegularFile = status.kind == .regularFile
        isEvicted = try EvictionSign(of: target, status)?.isEvicted == true
        isDownloading = status.permissions == fillingPermissions
    }

    /// Returns the value of a key about evicted items, or nil where the item has none.
    func value(_ key: KnownKey) -> PropertyValue? {
        switch key {
        case .isUbiquitousItem: return .boolean(isEvicted)
        case .ubiquitousItemDownloadingStatus:
            guard isRegularFile else { return nil }
            let status: URLUbiquitousItemDownloadingStatus =
                isEvicted ? .notDownloaded : .current
            return .object(status)
        default: break
        }
        guard isEvicted else { return nil }
        switch key {
        case .ubiquitousItemIsDownloading, .ubiquitousItemDownloadRequested:
            return .boolean(isDownloading)
        default: return nil
        }
    }

    /// Whether a snapshot contains the file as it is, which no placeholder is.
    ///
    /// - Parameter path: a path of the item; a link at its end is the item.
    func isStored(at path: FilePath) -> Bool {
        guard isRegularFile, !isEvicted, let state = stateHome(),
            let path = try? realPath(of: path, followsLast: false)
        else { return false }
        return StoredFileRecords(stateHome: state).contain(path, status, now: .now)
    }
}
#endif
