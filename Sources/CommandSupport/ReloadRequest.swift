import Glibc
import Synchronization

private let isRequested = Atomic<Bool>(false)

/// A request to read the configuration again: SIGHUP.
package enum ReloadRequest {
    /// Starts catching SIGHUP, which would otherwise end the process.
    package static func beginListening() {
        _ = isRequested.load(ordering: .relaxed)
        StopRequest.handle(SIGHUP, flags: 0) { _ in isRequested.store(true, ordering: .relaxed) }
    }

    /// Returns whether a reload was requested since the last call.
    package static func take() -> Bool { isRequested.exchange(false, ordering: .relaxed) }

    /// Whether there is a request that was not taken yet.
    package static var isMade: Bool { isRequested.load(ordering: .relaxed) }
}
