import CLinux
import SystemPackage

/// The system calls that this module wraps, by their names in section 2 of the manual.
package enum SystemCall: String, Sendable, CaseIterable {
    case openat, close, read, write, lseek, fallocate, readlinkat
    case getdents64, fchdir, getcwd, unshare
    case statx, fstatfs, fstatvfs, ioctl
    case getxattr, setxattr, listxattr, removexattr
    case getrlimit, setrlimit
    case pread, unlink, chmod, futimens, memfd_create
    case faccessat, name_to_handle_at, renameat2, utimensat, uname
    case mkdirat, symlinkat, linkat, unlinkat, fsync, fchmod, ftruncate, pwrite, flock
    case copy_file_range
    case fcntl, openat2, posix_spawn, waitpid
    case fchownat, mknodat, adjtimex, syncfs
    case quotactl_fd, sendto, kcmp, kill
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
