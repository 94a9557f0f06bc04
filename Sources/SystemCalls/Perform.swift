import CLinux
import SystemPackage

/// The system calls that this module wraps, by their names in section 2 of the manual.
package enum SystemCall: String, Sendable, CaseIterable {
    case openat, close, read, write, lseek, fallocate, readlinkat
    case getdents64, fchdir, getcwd, unshare, setns
    case statx, fstatfs, fstatvfs, ioctl
    case getxattr, setxattr, listxattr, removexattr
    case getrlimit, setrlimit
    case pread, unlink, chmod, futimens, memfd_create, pipe2
    case faccessat, renameat2, utimensat
    case mkdirat, symlinkat, linkat, unlinkat, fsync, fchmod, ftruncate, pwrite, flock
    case copy_file_range
    case fcntl, openat2, poll, posix_spawn, waitpid
    case fchownat, mknodat, adjtimex, syncfs
    case quotactl_fd, sendto, kcmp, kill
    case name_to_handle_at
    case copyAttributes = "attr_copy_fd"
}

/// Runs a system call that returns minus the errno on failure, and again while it returns `EINTR`.
///
/// `close` is the exception: on `EINTR` Linux has already released the descriptor, and a second
/// call could close an unrelated file that has since taken its number.
@inline(__always)
func perform(_ call: SystemCall, _ body: () -> Int) throws(Errno) -> Int {
    while true {
        #if MOCKING
        let result = SystemCallMock.current?.answer(to: call) ?? body()
        #else
        let result = body()
        #endif
        if result >= 0 { return result }
        if result == -Int(EINTR) && call != .close { continue }
        throw Errno(rawValue: CInt(-result))
    }
}

/// Runs a system call on a path, as ``perform(_:_:)`` does.
@discardableResult
func perform(
    _ call: SystemCall, _ path: FilePath, _ body: (UnsafePointer<CChar>) -> Int
) throws(Errno) -> Int {
    try path.withPointer { path throws(Errno) in try perform(call) { body(path) } }
}

/// Runs a system call on two paths, as ``perform(_:_:)`` does.
@discardableResult
func perform(
    _ call: SystemCall, _ first: FilePath, _ second: FilePath,
    _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int
) throws(Errno) -> Int {
    try first.withPointer { first throws(Errno) in
        try perform(call, second) { second in body(first, second) }
    }
}

#if MOCKING
/// Failures injected into the system calls of the calling thread, in debug builds only.
///
/// A test specifies which call fails, with which errno and how often; every other call reaches the
/// kernel. The failures of one thread never reach another thread.
package final class SystemCallMock {
    private var answers: [SystemCall: [Errno?]] = [:]
    private(set) package var calls: [SystemCall: Int] = [:]
    /// Called before each call, after it is counted; simulates what other programs do meanwhile.
    package var beforeCall: ((SystemCall) -> Void)?

    /// Creates a mock in which each call fails with its errnos one after the other, then works
    /// again. A nil among them lets one call reach the kernel.
    package init(_ answers: [SystemCall: [Errno?]]) {
        self.answers = answers.mapValues { $0.reversed() }
    }

    /// Runs `body` with this mock active on the calling thread.
    package func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        let key = Self.key
        let previous = pthread_getspecific(key)
        pthread_setspecific(key, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(key, previous) }
        return try body()
    }

    static var current: SystemCallMock? {
        guard let mock = pthread_getspecific(key) else { return nil }
        return Unmanaged<SystemCallMock>.fromOpaque(mock).takeUnretainedValue()
    }

    func answer(to call: SystemCall) -> Int? {
        calls[call, default: 0] += 1
        beforeCall?(call)
        guard let errno = answers[call]?.popLast() ?? nil else { return nil }
        return -Int(errno.rawValue)
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()
}
#endif

/// Which of the newer system calls this process may use.
///
/// An older kernel answers `ENOSYS` to a call, and a filter (seccomp) `ENOSYS` or `EPERM` to one that
/// it does not know or whose arguments it cannot inspect. Each call is probed once, with arguments
/// that the kernel itself never answers so: a later `EPERM` can have other reasons, such as
/// `O_NOATIME` on another user's file.
package enum AvailableCalls {
    /// `statx(2)`, without which nothing can be examined.
    package static let statx = isAvailable(linux_probe_statx(UInt32(STATX_BASIC_STATS)))
    /// The fields of `statx(2)` that Linux 5.8 and 6.8 added: numbers of mounts.
    @usableFromInline static let statxMountNumbers = isAvailable(
        linux_probe_statx(UInt32(STATX_MNT_ID) | uniqueMountNumber))
    static let openat2 = isAvailable(linux_probe_openat2())
    static let renameat2 = isAvailable(linux_probe_renameat2())
    static let syncfs = isAvailable(linux_syncfs(-1))
    /// The xattrat calls of Linux 6.13.
    package static let xattrat = isAvailable(linux_probe_listxattrat())

    /// Whether the answer to a probe is the kernel's own.
    static func isAvailable(_ answer: Int) -> Bool {
        answer != -Int(ENOSYS) && answer != -Int(EPERM)
    }
}
