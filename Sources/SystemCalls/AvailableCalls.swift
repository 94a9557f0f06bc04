import CLinux

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
    /// `openat2(2)`.
    static let openat2 = isAvailable(linux_probe_openat2())
    /// `renameat2(2)`.
    static let renameat2 = isAvailable(linux_probe_renameat2())
    /// `syncfs(2)`.
    static let syncfs = isAvailable(linux_syncfs(-1))
    /// The xattrat calls of Linux 6.13.
    package static let xattrat = isAvailable(linux_probe_listxattrat())

    /// Whether the answer to a probe is the kernel's own.
    static func isAvailable(_ answer: Int) -> Bool {
        answer != -Int(ENOSYS) && answer != -Int(EPERM)
    }
}
