#if !canImport(Darwin)
import EffectiveValues
import Eviction
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

    /// Reads the state of an item.
    init(_ target: CallTarget, _ status: FileStatus) throws(FileError) {
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
        let journal = stateHome().map { Journal(stateHome: $0) }
        isDownloading = (try? journal?.isDownloading(status.identity)) ?? false
        failure = (try? journal?.failure(of: status.identity)) ?? nil
    }

    /// Removes the recorded failure of an item's last download from the journal.
    static func forgetFailure(_ status: FileStatus) throws(FileError) {
        guard let state = stateHome() else { return }
        try Journal(stateHome: state).note(nil, of: status.identity)
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
        case .ubiquitousItemIsUploaded: return .boolean(true)
        case .ubiquitousItemIsDownloading, .ubiquitousItemDownloadRequested:
            return .boolean(isDownloading)
        case .ubiquitousItemDownloadingError:
            return failure.map { .object(Self.error($0)) }
        default: return nil
        }
    }

    private static func error(_ reason: String) -> NSError {
        NSError(
            domain: NSCocoaErrorDomain, code: CocoaError.ubiquitousFileUnavailable.rawValue,
            userInfo: [NSLocalizedFailureReasonErrorKey: reason])
    }
}
#endif
