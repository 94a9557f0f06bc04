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
