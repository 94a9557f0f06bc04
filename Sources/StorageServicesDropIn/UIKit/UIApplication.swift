#if !canImport(Darwin)
import ResourceValuesDropIn
import StorageManagement

/// What a program for iOS learns from its application about protected data and memory.
///
/// A notification is posted on the main thread of a program with a run loop, and on another thread
/// after `dispatchMain()`. A program that does neither serves no main queue, and gets none.
public final class UIApplication: NSObject, Sendable {
    /// The application.
    public static let shared = UIApplication()

    private static let memoryMonitor = MemoryPressureMonitor {
        DispatchQueue.main.async {
            // After dispatchMain() other threads serve the main queue, and one that posts would
            // wait for itself if an observer is called on that queue.
            if Thread.isMainThread { return postMemoryWarning() }
            DispatchQueue.global().async { postMemoryWarning() }
        }
    }
    private static let memoryWarning = Notification.Name(
        "UIApplicationDidReceiveMemoryWarningNotification")

    private static func postMemoryWarning() {
        NotificationCenter.default.post(name: memoryWarning, object: UIApplication.shared)
    }

    /// Whether files with a protection class can be read: `ProtectedData.isAvailable` of
    /// StorageManagement, which is true while no class is enforced.
    public var isProtectedDataAvailable: Bool { ProtectedData.isAvailable }

    /// Posted when protected data has become available; never while no class is enforced.
    public static let protectedDataDidBecomeAvailableNotification = Notification.Name(
        "UIApplicationProtectedDataDidBecomeAvailable")

    /// Posted before protected data becomes unavailable; never while no class is enforced.
    public static let protectedDataWillBecomeUnavailableNotification = Notification.Name(
        "UIApplicationProtectedDataWillBecomeUnavailable")

    /// Posted at critical memory pressure, at most every two seconds: while all tasks together
    /// waited for memory for a tenth of the time.
    ///
    /// The kernel is watched from the first use of this name on: a trigger on
    /// `/proc/pressure/memory`. Where it cannot be, nothing is posted;
    /// ``memoryWarningObstacle`` is the reason.
    public static var didReceiveMemoryWarningNotification: Notification.Name {
        memoryMonitor.start()
        return memoryWarning
    }

    /// Why ``didReceiveMemoryWarningNotification`` is not posted, such as a kernel without pressure
    /// stall information, or one that allows no trigger to this user; nil when it is. Asking sets the
    /// trigger. Not in Apple's API.
    public var memoryWarningObstacle: String? { Self.memoryMonitor.start() }
}
#endif
