import CLinux
import SystemPackage

/// The effective user number of this process: `geteuid(2)`, which cannot fail.
package func effectiveUser() -> UInt32 { geteuid() }

/// The effective group number of this process: `getegid(2)`, which cannot fail.
package func effectiveGroup() -> UInt32 { getegid() }

/// Whether a process has a number, as far as that can be told: `kill(2)` with no signal. One of another
/// user has, too.
package func hasProcess(numbered number: Int32) -> Bool {
    do throws(Errno) {
        _ = try perform(.kill) { linux_kill(number, 0) }
        return true
    } catch {
        return error != .noSuchProcess
    }
}

/// The processors this process may run on: `sched_getaffinity(2)`; at least 1.
package func availableProcessorCount() -> Int {
    max(Int(linux_available_processors()), 1)
}

/// Whether two threads share one table of open files, and one root and working directory: `kcmp(2)`.
///
/// - Throws: `EPERM` for threads of others and where a filter forbids the call, `ESRCH` when one ended,
///   `ENOSYS` where the kernel lacks it.
package func shareFilesAndDirectories(_ first: Int32, _ second: Int32) throws(Errno) -> Bool {
    // KCMP_FILES and KCMP_FS of linux/kcmp.h.
    for type: CInt in [2, 3] where try perform(.kcmp, { linux_kcmp(first, second, type) }) != 0 {
        return false
    }
    return true
}

/// The running kernel's version, such as 6 and 18: `uname(2)`.
///
/// - Returns: nil when the release begins with no two numbers.
package func kernelVersion() throws(Errno) -> (major: Int, minor: Int)? {
    var names = utsname()
    _ = try perform(.uname) { linux_uname(&names) }
    let numbers = withUnsafeBytes(of: names.release) { release in
        release.prefix { $0 != 0 }.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            .prefix(2).compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    }
    guard numbers.count == 2 else { return nil }
    return (numbers[0], numbers[1])
}
