#if !canImport(Darwin)
import ResourceValuesDropIn
import SystemCalls
import SystemPackage

/// Reports critical memory pressure: for a tenth of two seconds no task could go on, because all
/// waited for memory (pressure stall information of the kernel).
final class MemoryPressureMonitor: Sendable {
    private let file: FilePath
    private let isFull: Bool
    private let stall: Int
    private let report: @Sendable () -> Void
    private let state = Monitor(State.idle)

    private enum State {
        case idle
        case watching
        case failed(String)
    }

    /// Creates a monitor that does nothing until it is started.
    ///
    /// - Parameter report: called on a thread of the monitor for each window with such pressure.
    init(
        _ file: FilePath = "/proc/pressure/memory", isFull: Bool = true, stall: Int = 200_000,
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
                try PressureTrigger(file, isFull: isFull, stall: stall, window: 2_000_000))
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
