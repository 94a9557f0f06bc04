import CLinux
import SystemPackage

/// Returns the effective uid of this process: `geteuid(2)`, which cannot fail.
package func effectiveUser() -> UInt32 { geteuid() }

/// Returns the effective gid of this process: `getegid(2)`, which cannot fail.
package func effectiveGroup() -> UInt32 { getegid() }

/// Returns the pid of this process: `getpid(2)`, which cannot fail.
package func processNumber() -> Int32 { getpid() }

/// Signal numbers.
package enum SignalNumber {
    package static let interrupt = SIGINT
    package static let terminate = SIGTERM
}

/// Returns the host name: `gethostname(2)`.
package func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    // Fails only if the buffer is too small, and host names have at most 64 bytes.
    gethostname(&name, name.count - 1)
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Returns the value of an environment variable; nil if it is unset.
package func environmentVariable(_ name: String) -> [UInt8]? {
    getenv(name).map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
}

/// Returns this process's environment, each variable as `NAME=VALUE`.
package func inheritedEnvironment() -> [[UInt8]] {
    var variables: [[UInt8]] = []
    while let variable = linux_environment_entry(variables.count) {
        variables.append(Array(UnsafeRawBufferPointer(start: variable, count: strlen(variable))))
    }
    return variables
}

/// Whether a process with a pid exists, including one of another user: `kill(2)` with signal 0. An
/// errno other than `ESRCH` means that it exists.
package func hasProcess(numbered number: Int32) -> Bool {
    do throws(Errno) {
        _ = try perform(.kill) { linux_kill(number, 0) }
        return true
    } catch {
        return error != .noSuchProcess
    }
}

/// Returns the number of processors this process may run on: `sched_getaffinity(2)`; at least 1.
package func availableProcessorCount() -> Int {
    max(Int(linux_available_processors()), 1)
}

/// Whether two threads share their file descriptor table, root directory and working directory:
/// `kcmp(2)`.
///
/// - Throws: `EPERM` for another user's threads or where a filter forbids the call, `ESRCH` if a
///   thread has ended, `ENOSYS` if the kernel lacks the call.
package func shareFilesAndDirectories(_ first: Int32, _ second: Int32) throws(Errno) -> Bool {
    // KCMP_FILES and KCMP_FS of linux/kcmp.h.
    for type: CInt in [2, 3] where try perform(.kcmp, { linux_kcmp(first, second, type) }) != 0 {
        return false
    }
    return true
}

/// Returns the running kernel's version, such as 6 and 18: `uname(2)`.
///
/// - Returns: nil if the release does not begin with two numbers.
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
