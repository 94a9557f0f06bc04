import CLinux
import SystemPackage

/// Returns the effective uid of this process: `geteuid(2)`, which cannot fail.
package func effectiveUser() -> UInt32 { geteuid() }

/// Returns the effective gid of this process: `getegid(2)`, which cannot fail.
package func effectiveGroup() -> UInt32 { getegid() }

/// Returns the pid of this process: `getpid(2)`, which cannot fail.
package func processNumber() -> Int32 { getpid() }

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

/// Makes an open directory the calling thread's working directory: `fchdir(2)`.
///
/// Unless ``separateWorkingDirectory()`` was called before, it becomes every thread's working
/// directory.
package func changeWorkingDirectory(to descriptor: FileDescriptor) throws(Errno) {
    _ = try perform(.fchdir) { linux_fchdir(descriptor.rawValue) }
}

/// Returns the working directory's absolute path, of any length: `getcwd(3)`.
///
/// - Throws: the call's errno, such as `ENOENT` if the directory was removed.
package func workingDirectory() throws(Errno) -> FilePath {
    var path: UnsafeMutablePointer<CChar>?
    _ = try perform(.getcwd) { linux_getcwd(&path) }
    guard let path else { throw .noMemory }
    defer { free(path) }
    return FilePath(platformString: path)
}

extension FilePath {
    /// The path as it is named, made absolute without a look at what it names.
    package var absoluteName: FilePath {
        ((try? workingDirectory())?.pushing(self) ?? self).lexicallyNormalized()
    }
}

/// Gives the calling thread a working directory of its own: `unshare(2)` with `CLONE_FS`.
package func separateWorkingDirectory() throws(Errno) {
    _ = try perform(.unshare) { linux_unshare_working_directory() }
}

/// Moves the calling thread into a mount namespace: `setns(2)`, after ``separateWorkingDirectory()``.
///
/// - Throws: `EPERM` without CAP_SYS_ADMIN and CAP_SYS_CHROOT, or where a filter forbids the call.
package func enterMountNamespace(_ descriptor: FileDescriptor) throws(Errno) {
    _ = try perform(.setns) { linux_enter_mount_namespace(descriptor.rawValue) }
}

/// Whether this process is in the PID namespace of the whole machine, so that `/proc` shows all
/// processes: by `/proc/self/ns/pid`. True where that does not exist: without `/proc` it is not
/// needed to say more, and without namespaces there is only one.
package func isInInitialPIDNamespace() throws(Errno) -> Bool {
    do throws(Errno) {
        let namespace = try symbolicLinkTarget(FilePath("/proc/self/ns/pid").withoutFollowing)
        // PROC_PID_INIT_INO of the kernel, the same on every machine.
        return namespace == "pid:[4026531836]"
    } catch .noSuchFileOrDirectory {
        return true
    }
}

/// Returns the uid of this process's own files; nil where that is also the owner of all files of users
/// who have no uid in this user namespace, so that none is known to be its own.
package func ownUser() -> UInt32? {
    let user = effectiveUser()
    func numbers(_ path: FilePath) -> [UInt32]? {
        (try? contentsOfFile(path))?.split { [0x20, 0x0A].contains($0) }
            .map { UInt32(String(decoding: $0, as: UTF8.self)) ?? 0 }
    }
    guard user == numbers("/proc/sys/kernel/overflowuid")?.first ?? 65534 else { return user }
    return numbers("/proc/self/uid_map") == [0, 0, .max] ? user : nil
}

/// Raises the soft limit on open descriptors to the hard limit: `setrlimit(2)`.
///
/// - Returns: the limit in force afterwards.
@discardableResult
package func raiseDescriptorLimit() throws(Errno) -> Int {
    var limit = rlimit()
    _ = try perform(.getrlimit) { linux_get_descriptor_limit(&limit) }
    if limit.rlim_cur < limit.rlim_max {
        var raised = limit
        raised.rlim_cur = limit.rlim_max
        if (try? perform(.setrlimit, { linux_set_descriptor_limit(&raised) })) != nil {
            limit = raised
        }
        // If the raise is refused, the old limit stays in force and is returned.
    }
    return Int(clamping: limit.rlim_cur)
}

/// Raises the soft limit and checks that the given number of descriptors can be opened.
///
/// - Throws: `EMFILE` if they cannot.
package func requireDescriptors(_ count: Int) throws(Errno) {
    try raiseDescriptorLimit()
    var opened: [FileDescriptor] = []
    defer { for descriptor in opened { closeIgnoringErrors(descriptor) } }
    for _ in 0..<count { opened.append(try openDirectoryReference("/")) }
}

/// Sends one datagram to a local socket, without waiting: `sendto(2)`.
///
/// - Parameter address: the socket's path or, after a leading NUL, its name in the abstract
///   namespace.
/// - Throws: the errno of `socket(2)` or `sendto(2)`; `ENAMETOOLONG` for an address longer than 107
///   bytes.
package func sendDatagram(_ message: [UInt8], to address: [UInt8]) throws(Errno) {
    _ = try perform(.sendto) {
        linux_send_datagram(address, address.count, message, message.count)
    }
}

/// Returns the width of a terminal in columns: `TIOCGWINSZ`.
///
/// - Returns: nil for anything but a terminal, and for one that does not tell.
package func terminalColumnCount(_ descriptor: FileDescriptor) -> Int? {
    let count = try? perform(.ioctl) { linux_get_terminal_columns(descriptor.rawValue) }
    return count == 0 ? nil : count
}
