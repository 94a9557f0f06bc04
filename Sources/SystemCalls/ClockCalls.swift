import CLinux
import SystemPackage

extension FileTime {
    /// The system clock's time: `clock_gettime(2)` with `CLOCK_REALTIME`, which cannot fail.
    public static var now: FileTime {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return FileTime(seconds: Int64(now.tv_sec), nanoseconds: UInt32(now.tv_nsec))
    }
}

/// Returns the identifier of the current boot, unique to it: `/proc/sys/kernel/random/boot_id`.
package func bootIdentifier() throws(FileError) -> String {
    let bytes = try contentsOfFile("/proc/sys/kernel/random/boot_id")
    return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
}

/// Whether the kernel considers the clock synchronized, as by NTP: `adjtimex(2)` in read-only mode,
/// without `STA_UNSYNC`.
package func isClockSynchronized() throws(Errno) -> Bool {
    var flags: CInt = 0
    _ = try perform(.adjtimex) { linux_get_clock_flags(&flags) }
    return flags & STA_UNSYNC == 0
}

/// Sleeps until a time has passed or SIGINT, SIGTERM or SIGHUP arrives: `pselect(2)`.
///
/// A signal that was handled before the call is not missed if `isWoken` reports it: the signals are
/// blocked from before `isWoken` is called until the thread sleeps. All other threads must block
/// them.
package func sleep(for duration: Duration, unless isWoken: () -> Bool) {
    var before = sigset_t()
    linux_hold_signals(&before)
    defer { linux_release_signals(&before) }
    guard !isWoken(), duration > .zero else { return }
    let (seconds, attoseconds) = duration.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    // A signal ends the sleep early; the caller checks which one it was.
    _ = linux_sleep_with_signals(&time, &before)
}

/// Returns the time since boot, including time in suspend: `clock_gettime(2)` with
/// `CLOCK_BOOTTIME`, which cannot fail.
package func timeSinceBoot() -> Duration {
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    return .seconds(Int64(now.tv_sec)) + .nanoseconds(Int64(now.tv_nsec))
}

/// Returns the time of a clock that stops during suspend: `clock_gettime(2)` with
/// `CLOCK_MONOTONIC`, which cannot fail.
package func monotonicTime() -> Duration {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return .seconds(Int64(now.tv_sec)) + .nanoseconds(Int64(now.tv_nsec))
}
