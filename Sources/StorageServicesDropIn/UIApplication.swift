#if !canImport(Darwin)
import ResourceValuesDropIn
import StorageManagement
import SystemCalls
import SystemPackage

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

/// Reports critical memory pressure: for a tenth of two seconds no task could go on, because all
/// waited for memory (pressure stall information of the kernel).
final class MemoryPressureMonitor: Sendable {
    private let file: FilePath
    private let isFull: Bool
    private let stall: Duration
    private let report: @Sendable () -> Void
    private let state = Monitor(State.idle)

    private enum State {
        case idle
        case watching
        case failed(String)
    }

    /// - Parameter report: called on a thread of the monitor for each window with such pressure.
    init(
        _ file: FilePath = "/proc/pressure/memory", isFull: Bool = true,
        stall: Duration = .milliseconds(200),
        report: @escaping @Sendable () -> Void
    ) {
        self.file = file
        self.isFull = isFull
        self.stall = stall
        self.report = report
    }

    /// Starts to watch, once; a failure is the reason from then on.
    ///
    /// - Returns: why memory pressure is not reported; nil if it is.
    @discardableResult
    func start() -> String? {
        state.withLock { state in
            if case .idle = state { state = begin() }
            guard case .failed(let reason) = state else { return nil }
            return reason
        }
    }

    private func begin() -> State {
        do throws(Errno) {
            let trigger = SharedTrigger(
                try PressureTrigger(file, isFull: isFull, stall: stall, window: .seconds(2)))
            guard let thread = startThread({ self.watch(trigger) }) else {
                return .failed("no thread could be started")
            }
            thread.detach()
            return .watching
        } catch {
            return .failed("\(file): \(error)")
        }
    }

    private func watch(_ trigger: SharedTrigger) {
        do throws(Errno) {
            while true {
                try trigger.trigger.wait()
                report()
            }
        } catch {
            state.withLock { [file] in $0 = .failed("\(file): \(error)") }
        }
    }

    private final class SharedTrigger: Sendable {
        let trigger: PressureTrigger
        init(_ trigger: consuming PressureTrigger) { self.trigger = trigger }
    }
}
#endif
