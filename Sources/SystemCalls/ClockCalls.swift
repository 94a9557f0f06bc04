import CLinux
import SystemPackage

/// The time of the system's clock: `clock_gettime(2)` with `CLOCK_REALTIME`, which cannot fail.
package func currentTime() -> FileTime {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return FileTime(seconds: Int64(now.tv_sec), nanoseconds: UInt32(now.tv_nsec))
}

/// The time that filesystems note changes by, which is that of the last tick: `clock_gettime(2)` with
/// `CLOCK_REALTIME_COARSE`.
package func coarseTime() -> FileTime {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &now)
    return FileTime(seconds: Int64(now.tv_sec), nanoseconds: UInt32(now.tv_nsec))
}

/// The boot this system is in, which no other boot has: `/proc/sys/kernel/random/boot_id`.
package func bootIdentifier() throws(Errno) -> String {
    let bytes = try contentsOfFile("/proc/sys/kernel/random/boot_id")
    return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
}

/// Whether the kernel knows that something keeps its clock right, such as NTP: `adjtimex(2)`, which
/// is asked and told nothing, without `STA_UNSYNC`.
package func isClockSynchronized() throws(Errno) -> Bool {
    var flags: CInt = 0
    _ = try perform(.adjtimex) { linux_get_clock_flags(&flags) }
    return flags & STA_UNSYNC == 0
}

/// Sleeps until a time has passed or SIGINT, SIGTERM or SIGHUP comes: `pselect(2)`.
///
/// A signal whose handler ran before is not missed when `isWoken` tells of it: signals are held back
/// from the moment it is asked until the thread sleeps. No other thread may take them.
package func sleep(for duration: Duration, unless isWoken: () -> Bool) {
    var before = sigset_t()
    linux_hold_signals(&before)
    defer { linux_release_signals(&before) }
    guard !isWoken(), duration > .zero else { return }
    let (seconds, attoseconds) = duration.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    // Ends early by a signal; whoever sleeps looks for what it was.
    _ = linux_sleep_with_signals(&time, &before)
}

/// The time that goes on since this machine was started, also while it sleeps: `clock_gettime(2)` with
/// `CLOCK_BOOTTIME`, which cannot fail.
package func timeSinceBoot() -> Duration {
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    return .seconds(Int64(now.tv_sec)) + .nanoseconds(Int64(now.tv_nsec))
}

/// The time of the clock that stands still while this machine sleeps: `clock_gettime(2)` with
/// `CLOCK_MONOTONIC`, which cannot fail.
package func monotonicTime() -> Duration {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return .seconds(Int64(now.tv_sec)) + .nanoseconds(Int64(now.tv_nsec))
}
