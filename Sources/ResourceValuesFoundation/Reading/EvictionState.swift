#if !canImport(Darwin)
import EffectiveValues
import Eviction
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

/// Whether `resval-backup evict` has taken an item's content away, as this user's journal tells.
struct EvictionState {
    /// The record; nil for an ordinary item.
    let record: EvictedFile?
    private let isRegularFile: Bool

    /// Looks an item up: one failing `openat(2)` for an ordinary file that holds anything.
    init(_ target: CallTarget, _ status: FileStatus, _ url: URL) {
        isRegularFile = status.kind == .regularFile
        record = Self.record(target, status, url)
    }

    private static func record(
        _ target: CallTarget, _ status: FileStatus, _ url: URL
    ) -> EvictedFile? {
        guard status.kind == .regularFile, status.size > 0, status.owner == effectiveUser(),
            let state = stateHome()
        else { return nil }
        do {
            let journal = Journal(stateHome: state)
            let path = try url.filePath()
            guard let index = try journal.index(of: status, at: path) else { return nil }
            return index.placeholder(target, status, at: path)
        } catch {
            // No journal that can be read: nothing is known to be evicted.
            return nil
        }
    }

    /// Forgets why an item was not brought back when that was last tried.
    static func forgetFailure(_ status: FileStatus, at path: FilePath) throws(FileError) {
        guard let state = stateHome() else { return }
        let journal = Journal(stateHome: state)
        guard let record = try journal.record(of: status, at: path) else { return }
        try journal.note(nil, of: record)
    }

    /// The value of a key about evicted items; nil where it has none.
    func value(_ key: KnownKey) -> PropertyValue? {
        switch key {
        case .isUbiquitousItem: return .boolean(record != nil)
        case .ubiquitousItemDownloadingStatus:
            guard isRegularFile else { return nil }
            let status: URLUbiquitousItemDownloadingStatus =
                record == nil ? .current : .notDownloaded
            return .object(status)
        default: break
        }
        guard let record else { return nil }
        switch key {
        case .ubiquitousItemIsUploaded: return .boolean(true)
        case .ubiquitousItemIsDownloading, .ubiquitousItemDownloadRequested:
            return .boolean(record.state == .downloading)
        case .ubiquitousItemDownloadingError:
            return record.failure.map { .object(Self.error($0)) }
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
