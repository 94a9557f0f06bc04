import Glibc
import Synchronization

private let isRequested = Atomic<Bool>(false)

/// A request to read the configuration again: SIGHUP.
public enum ReloadRequest {
    /// Begins to catch SIGHUP, which would otherwise end the process.
    public static func beginListening() {
        _ = isRequested.load(ordering: .relaxed)
        StopRequest.handle(SIGHUP, flags: 0) { _ in isRequested.store(true, ordering: .relaxed) }
    }

    /// Whether there was a request since the last call.
    public static func take() -> Bool { isRequested.exchange(false, ordering: .relaxed) }

    /// Whether there is a request that nobody took.
    public static var isMade: Bool { isRequested.load(ordering: .relaxed) }
}
