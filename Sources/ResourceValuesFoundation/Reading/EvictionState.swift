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
    private let failure: String?
    private let isRegularFile: Bool
    private let status: FileStatus

    /// Reads the state of an item.
    init(_ target: CallTarget, _ status: FileStatus) throws(FileError) {
        self.status = status
        isRegularFile = status.kind == .regularFile
        guard isRegularFile, try EvictionSign(of: target, status)?.isEvicted == true
        else {
            isEvicted = false
            isDownloading = false
            failure = nil
            return
        }
        isEvicted = true
        // The journal is optional: without a readable one, download and failure are unknown.
        let downloads = stateHome().map { DownloadNotes(stateHome: $0) }
        isDownloading = (try? downloads?.isDownloading(status.identity)) ?? false
        failure = (try? downloads?.failure(of: status.identity)) ?? nil
    }

    /// Removes the recorded failure of an item's last download from the journal.
    static func forgetFailure(_ status: FileStatus) throws(FileError) {
        guard let state = stateHome() else { return }
        try DownloadNotes(stateHome: state).note(nil, of: status.identity)
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
        case .ubiquitousItemIsUploaded: return isStored ? .boolean(true) : nil
        default: break
        }
        guard isEvicted else { return nil }
        switch key {
        case .ubiquitousItemIsDownloading, .ubiquitousItemDownloadRequested:
            return .boolean(isDownloading)
        case .ubiquitousItemDownloadingError:
            return failure.map { .object(Self.error($0)) }
        default: return nil
        }
    }

    /// Whether a verified snapshot contains the file as it is, which no placeholder is.
    private var isStored: Bool {
        guard isRegularFile, !isEvicted, let state = stateHome() else { return false }
        return StoredFileRecords(stateHome: state).contain(status, now: .now)
    }

    private static func error(_ reason: String) -> NSError {
        NSError(
            domain: NSCocoaErrorDomain, code: CocoaError.ubiquitousFileUnavailable.rawValue,
            userInfo: [NSLocalizedFailureReasonErrorKey: reason])
    }
}
#endif
