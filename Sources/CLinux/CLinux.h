// What glibc's Swift module lacks: headers it does not import, calls glibc does not wrap, and
// variadic functions Swift cannot call. Every function here returns its result, or minus the
// errno, so that callers never read a thread-local errno after other code has run.

#ifndef RESOURCE_VALUES_CLINUX_H
#define RESOURCE_VALUES_CLINUX_H

// Nothing here may depend on _GNU_SOURCE: glibc's Swift module is built without it, and a type
// that looks different in two modules cannot be used by a file that sees both. What only that
// macro would declare is taken from the kernel's own headers or declared below.

#include <attr/error_context.h>
#include <attr/libattr.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/quota.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef O_PATH
#define O_PATH __O_PATH
#endif
#ifndef O_DIRECTORY
#define O_DIRECTORY __O_DIRECTORY
#endif
#ifndef O_NOFOLLOW
#define O_NOFOLLOW __O_NOFOLLOW
#endif
#ifndef O_NOATIME
#define O_NOATIME __O_NOATIME
#endif
#ifndef AT_NO_AUTOMOUNT
#define AT_NO_AUTOMOUNT 0x800
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef FALLOC_FL_KEEP_SIZE
#define FALLOC_FL_KEEP_SIZE 0x01
#endif
#ifndef FALLOC_FL_PUNCH_HOLE
#define FALLOC_FL_PUNCH_HOLE 0x02
#endif
#ifndef SEEK_DATA
#define SEEK_DATA 3
#endif
#ifndef SEEK_HOLE
#define SEEK_HOLE 4
#endif

// UTIME_OMIT in a form that Swift imports.
#define LINUX_UTIME_OMIT 0x3FFFFFFE

// Linux 6.13 gave the same numbers to every architecture; glibc 2.36 knows none of them.
#define LINUX_SYS_setxattrat 463
#define LINUX_SYS_getxattrat 464
#define LINUX_SYS_listxattrat 465
#define LINUX_SYS_removexattrat 466

// struct xattr_args of linux/xattr.h, which Debian 12's headers do not have yet.
struct linux_xattr_args {
    uint64_t value __attribute__((aligned(8)));
    uint32_t size;
    uint32_t flags;
};

static inline long linux_result(long result) { return result < 0 ? -(long)errno : result; }

static inline long linux_getxattrat(int directory, const char *path, unsigned int at_flags,
                                    const char *name, void *value, uint32_t size) {
    struct linux_xattr_args arguments = {(uint64_t)(uintptr_t)value, size, 0};
    return linux_result(syscall(LINUX_SYS_getxattrat, directory, path, at_flags, name,
                                &arguments, sizeof arguments));
}

static inline long linux_setxattrat(int directory, const char *path, unsigned int at_flags,
                                    const char *name, const void *value, uint32_t size,
                                    uint32_t flags) {
    struct linux_xattr_args arguments = {(uint64_t)(uintptr_t)value, size, flags};
    return linux_result(syscall(LINUX_SYS_setxattrat, directory, path, at_flags, name,
                                &arguments, sizeof arguments));
}

static inline long linux_listxattrat(int directory, const char *path, unsigned int at_flags,
                                     char *list, size_t size) {
    return linux_result(syscall(LINUX_SYS_listxattrat, directory, path, at_flags, list, size));
}

static inline long linux_removexattrat(int directory, const char *path, unsigned int at_flags,
                                       const char *name) {
    return linux_result(syscall(LINUX_SYS_removexattrat, directory, path, at_flags, name));
}

static inline long linux_getxattr(const char *path, const char *name, void *value, size_t size) {
    return linux_result(getxattr(path, name, value, size));
}

static inline long linux_lgetxattr(const char *path, const char *name, void *value, size_t size) {
    return linux_result(lgetxattr(path, name, value, size));
}

static inline long linux_fgetxattr(int descriptor, const char *name, void *value, size_t size) {
    return linux_result(fgetxattr(descriptor, name, value, size));
}

static inline long linux_setxattr(const char *path, const char *name, const void *value,
                                  size_t size, int flags) {
    return linux_result(setxattr(path, name, value, size, flags));
}

static inline long linux_lsetxattr(const char *path, const char *name, const void *value,
                                   size_t size, int flags) {
    return linux_result(lsetxattr(path, name, value, size, flags));
}

static inline long linux_fsetxattr(int descriptor, const char *name, const void *value,
                                   size_t size, int flags) {
    return linux_result(fsetxattr(descriptor, name, value, size, flags));
}

static inline long linux_listxattr(const char *path, char *list, size_t size) {
    return linux_result(listxattr(path, list, size));
}

static inline long linux_llistxattr(const char *path, char *list, size_t size) {
    return linux_result(llistxattr(path, list, size));
}

static inline long linux_flistxattr(int descriptor, char *list, size_t size) {
    return linux_result(flistxattr(descriptor, list, size));
}

static inline long linux_removexattr(const char *path, const char *name) {
    return linux_result(removexattr(path, name));
}

static inline long linux_lremovexattr(const char *path, const char *name) {
    return linux_result(lremovexattr(path, name));
}

static inline long linux_fremovexattr(int descriptor, const char *name) {
    return linux_result(fremovexattr(descriptor, name));
}

static inline long linux_openat(int directory, const char *path, int flags, mode_t mode) {
    return linux_result(openat(directory, path, flags, mode));
}

static inline long linux_close(int descriptor) { return linux_result(close(descriptor)); }

static inline long linux_getdents64(int descriptor, void *buffer, size_t size) {
    return linux_result(syscall(SYS_getdents64, descriptor, buffer, size));
}

static inline long linux_statx(int directory, const char *path, int flags, unsigned int mask,
                               struct statx *status) {
    return linux_result(syscall(SYS_statx, directory, path, flags, mask, status));
}

static inline long linux_fstatfs(int descriptor, struct statfs *status) {
    return linux_result(fstatfs(descriptor, status));
}

static inline long linux_fstatvfs(int descriptor, struct statvfs *status) {
    return linux_result(fstatvfs(descriptor, status));
}

static inline long linux_readlinkat(int directory, const char *path, char *buffer, size_t size) {
    return linux_result(readlinkat(directory, path, buffer, size));
}

static inline long linux_read(int descriptor, void *buffer, size_t size) {
    return linux_result(read(descriptor, buffer, size));
}

static inline long linux_write(int descriptor, const void *buffer, size_t size) {
    return linux_result(write(descriptor, buffer, size));
}

static inline long linux_lseek(int descriptor, off_t offset, int whence) {
    return linux_result(lseek(descriptor, offset, whence));
}

static inline long linux_fallocate(int descriptor, int mode, off_t offset, off_t length) {
    return linux_result(syscall(SYS_fallocate, descriptor, mode, offset, length));
}

static inline long linux_pread(int descriptor, void *buffer, size_t size, off_t offset) {
    return linux_result(pread(descriptor, buffer, size, offset));
}

static inline long linux_unlink(const char *path) { return linux_result(unlink(path)); }

static inline long linux_chmod(const char *path, mode_t mode) {
    return linux_result(chmod(path, mode));
}

// Sets the time of modification and leaves the time of access.
static inline long linux_set_modification_time(int descriptor, time_t seconds, long nanoseconds) {
    struct timespec times[2] = {{0, UTIME_OMIT}, {seconds, nanoseconds}};
    return linux_result(futimens(descriptor, times));
}

// Makes a file without a name, in memory, that is closed on exec.
static inline long linux_memfd_create(const char *name) {
    const unsigned int close_on_exec = 1;  // MFD_CLOEXEC
    return linux_result(syscall(SYS_memfd_create, name, close_on_exec));
}

// The variable with this number in the environment, as NAME=VALUE; NULL behind the last. Swift sees
// the list itself as a variable that threads share.
static inline const char *linux_environment_entry(long number) {
    extern char **environ;
    return environ[number];
}

static inline long linux_fchdir(int descriptor) { return linux_result(fchdir(descriptor)); }

// Gives the calling thread a working directory of its own (CLONE_FS; needs no privilege).
static inline long linux_unshare_working_directory(void) {
    return linux_result(syscall(SYS_unshare, CLONE_FS));
}

// The working directory's path, of any length, in memory the caller frees. glibc goes up the tree
// itself where the path is longer than the kernel answers.
static inline long linux_getcwd(char **path) {
    *path = getcwd(NULL, 0);
    return *path ? 0 : -(long)errno;
}

// What the kernel knows of its clock's state: the flags STA_... of adjtimex(2).
static inline long linux_get_clock_flags(int *flags) {
    struct timex state = {.modes = 0};
    if (adjtimex(&state) < 0) return -(long)errno;
    *flags = state.status;
    return 0;
}

// The inode flags of chattr(1): FS_IOC_GETFLAGS.
static inline long linux_get_inode_flags(int descriptor, int *flags) {
    return linux_result(ioctl(descriptor, FS_IOC_GETFLAGS, flags));
}

static inline long linux_set_inode_flags(int descriptor, int flags) {
    return linux_result(ioctl(descriptor, FS_IOC_SETFLAGS, &flags));
}

// The label of the mounted filesystem: FS_IOC_GETFSLABEL, at most FSLABEL_MAX bytes with the NUL.
static inline long linux_get_filesystem_label(int descriptor, char *label) {
    return linux_result(ioctl(descriptor, FS_IOC_GETFSLABEL, label));
}

// struct fsuuid2 and FS_IOC_GETFSUUID of Linux 6.9, which Debian 12's headers do not have yet.
struct linux_filesystem_uuid {
    uint8_t length;
    uint8_t bytes[16];
};

static inline long linux_get_filesystem_uuid(int descriptor, struct linux_filesystem_uuid *uuid) {
    return linux_result(ioctl(descriptor, _IOR(0x15, 0, struct linux_filesystem_uuid), uuid));
}

static inline long linux_get_btrfs_uuid(int descriptor, uint8_t *bytes) {
    struct btrfs_ioctl_fs_info_args information = {0};
    if (ioctl(descriptor, BTRFS_IOC_FS_INFO, &information) < 0) return -(long)errno;
    memcpy(bytes, information.fsid, sizeof information.fsid);
    return 0;
}

// What XFS_IOC_FSGEOMETRY_V1 fills in; the kernel's xfs_fs.h is not among glibc's headers.
struct linux_xfs_geometry {
    uint32_t block_size, unused_1[7];
    uint64_t unused_2[4];
    uint8_t uuid[16];
    uint32_t unused_3[2];
    int32_t version;
    uint32_t flags, unused_4[3];
    uint32_t padding;
};

#define LINUX_XFS_GEOMETRY_REFLINK (1u << 20)

static inline long linux_get_xfs_geometry(int descriptor, struct linux_xfs_geometry *geometry) {
    return linux_result(ioctl(descriptor, _IOR('X', 100, struct linux_xfs_geometry), geometry));
}

// The extents of a file from an offset on: FS_IOC_FIEMAP. Returns how many were filled in.
#define LINUX_EXTENT_CAPACITY 32

static inline long linux_get_extents(int descriptor, uint64_t start,
                                     struct fiemap_extent *extents) {
    union {
        struct fiemap map;
        char bytes[sizeof(struct fiemap) + LINUX_EXTENT_CAPACITY * sizeof(struct fiemap_extent)];
    } request;
    memset(&request.map, 0, sizeof request.map);
    request.map.fm_start = start;
    request.map.fm_length = FIEMAP_MAX_OFFSET - start;
    request.map.fm_extent_count = LINUX_EXTENT_CAPACITY;
    if (ioctl(descriptor, FS_IOC_FIEMAP, &request.map) < 0) return -(long)errno;
    memcpy(extents, request.bytes + sizeof request.map,
           request.map.fm_mapped_extents * sizeof *extents);
    return request.map.fm_mapped_extents;
}

// Asks for the length of a handle only: minus EOVERFLOW where the filesystem has handles.
static inline long linux_probe_handle(int directory, const char *path, int flags) {
    struct {
        unsigned int length;
        int type;
    } handle = {0, 0};
    int mount;
    return linux_result(syscall(SYS_name_to_handle_at, directory, path, &handle, &mount, flags));
}

// Whether the effective user may access a file: faccessat2(2), or glibc's stand-in for it.
static inline long linux_faccessat(int directory, const char *path, int mode, int flags) {
    return linux_result(faccessat(directory, path, mode, flags | AT_EACCESS));
}

static inline long linux_renameat2(int old_directory, const char *old_name, int new_directory,
                                   const char *new_name, unsigned int flags) {
    return linux_result(syscall(SYS_renameat2, old_directory, old_name, new_directory, new_name,
                                flags));
}

static inline long linux_utimensat(int directory, const char *path, const struct timespec *times,
                                   int flags) {
    return linux_result(utimensat(directory, path, times, flags));
}

// Opens a file without a name in a directory, which linkat(2) can give one.
static inline long linux_open_unnamed(int directory, mode_t mode) {
    const int unnamed = 020000000 | __O_DIRECTORY;  // O_TMPFILE
    return linux_result(openat(directory, ".", unnamed | O_RDWR | O_CLOEXEC, mode));
}

static inline long linux_mkdirat(int directory, const char *name, mode_t mode) {
    return linux_result(mkdirat(directory, name, mode));
}

static inline long linux_symlinkat(const char *target, int directory, const char *name) {
    return linux_result(symlinkat(target, directory, name));
}

static inline long linux_linkat(int old_directory, const char *old_name, int new_directory,
                                const char *new_name, int flags) {
    return linux_result(linkat(old_directory, old_name, new_directory, new_name, flags));
}

static inline long linux_unlinkat(int directory, const char *name, int flags) {
    return linux_result(unlinkat(directory, name, flags));
}

static inline long linux_fsync(int descriptor) { return linux_result(fsync(descriptor)); }

static inline long linux_flock(int descriptor, int operation) {
    return linux_result(flock(descriptor, operation));
}

static inline long linux_fchmod(int descriptor, mode_t mode) {
    return linux_result(fchmod(descriptor, mode));
}


static inline long linux_fchownat(int directory, const char *path, uid_t user, gid_t group,
                                  int flags) {
    return linux_result(fchownat(directory, path, user, group, flags));
}

// Makes a FIFO or a device; `mode` holds the kind as well.
static inline long linux_mknodat(int directory, const char *name, mode_t mode, unsigned int major,
                                 unsigned int minor) {
    return linux_result(mknodat(directory, name, mode, gnu_dev_makedev(major, minor)));
}

static inline long linux_ftruncate(int descriptor, off_t size) {
    return linux_result(ftruncate(descriptor, size));
}

static inline long linux_pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
    return linux_result(pwrite(descriptor, bytes, size, offset));
}

// Lets a file share another one's blocks: FICLONE.
static inline long linux_clone_file(int target, int source) {
    return linux_result(ioctl(target, FICLONE, source));
}

// Copies a range to the same place in another file, in the kernel.
static inline long linux_copy_file_range(int source, int target, off_t offset, size_t length) {
    int64_t from = offset, to = offset;
    return linux_result(syscall(SYS_copy_file_range, source, &from, target, &to, length, 0));
}

static inline long linux_uname(struct utsname *names) { return linux_result(uname(names)); }

// The limit on open descriptors (RLIMIT_NOFILE), which glibc declares with an enum type that
// Swift does not match.
static inline long linux_get_descriptor_limit(struct rlimit *limit) {
    return linux_result(getrlimit(RLIMIT_NOFILE, limit));
}

static inline long linux_set_descriptor_limit(const struct rlimit *limit) {
    return linux_result(setrlimit(RLIMIT_NOFILE, limit));
}

// How many processors this process may run on, or minus the errno.
static inline long linux_available_processors(void) {
    unsigned long processors[128];
    long size = syscall(SYS_sched_getaffinity, 0, sizeof processors, processors);
    if (size < 0) return -(long)errno;
    long count = 0;
    for (size_t index = 0; index < (size_t)size / sizeof *processors; index++)
        count += __builtin_popcountl(processors[index]);
    return count;
}

// Leases: F_SETLEASE and F_GETLEASE. The lease tells of its break by SIGURG, which unlike SIGIO
// nobody dies of.
static inline long linux_set_lease(int descriptor, int type) {
    const int set_signal = 10, set_lease = 1024;  // F_SETSIG, F_SETLEASE
    if (fcntl(descriptor, set_signal, SIGURG) < 0) return -(long)errno;
    return linux_result(fcntl(descriptor, set_lease, type));
}

static inline long linux_get_lease(int descriptor) {
    const int get_lease = 1025;  // F_GETLEASE
    return linux_result(fcntl(descriptor, get_lease));
}

// Starts a program with this process's environment, /dev/null for its input and output, and a
// descriptor for its messages. Returns its process number.
static inline long linux_spawn(const char *path, char *const *arguments, int messages) {
    extern char **environ;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    pid_t process;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, messages, 2);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    int result = posix_spawn(&process, path, &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return result == 0 ? process : -result;
}

// Waits for the end of a child: its exit code, or 128 and the number of the signal that ended it.
static inline long linux_wait(int process) {
    int status;
    if (waitpid(process, &status, 0) < 0) return -(long)errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Locks one byte of a file for the open file, not for the process: F_OFD_SETLK.
static inline long linux_lock_byte(int descriptor, off_t offset, short type) {
    struct flock lock = {0};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = offset;
    lock.l_len = 1;
    const int set_lock = 37;  // F_OFD_SETLK
    return linux_result(fcntl(descriptor, set_lock, &lock));
}

// Opens a path on which no component may be a symbolic link: openat2(2).
static inline long linux_open_without_links(int directory, const char *path, uint64_t flags) {
    struct { uint64_t flags, mode, resolve; } how = {flags, 0, 0x04 | 0x02};
    // RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS
    return linux_result(syscall(437, directory, path, &how, sizeof how));
}

// Opens a name below an open directory through no link, and where asked on the same mount:
// openat2(2).
static inline long linux_open_beneath(
    int directory, const char *path, uint64_t flags, bool crosses_mounts) {
    // RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_XDEV
    struct { uint64_t flags, mode, resolve; } how = {
        flags, 0, 0x08 | 0x04 | 0x02 | (crosses_mounts ? 0 : 0x01)};
    return linux_result(syscall(437, directory, path, &how, sizeof how));
}

// Opens a path as if an open directory were the root, also for links: openat2(2).
static inline long linux_open_in_root(int directory, const char *path, uint64_t flags) {
    struct { uint64_t flags, mode, resolve; } how = {flags, 0, 0x10};  // RESOLVE_IN_ROOT
    return linux_result(syscall(437, directory, path, &how, sizeof how));
}

// kill(2) with no signal: 0 when the process exists and may be signalled.
static inline long linux_kill(int process, int signal) {
    return kill(process, signal) == 0 ? 0 : -errno;
}

// Compares what two threads have: 0 when it is the same. kcmp(2)
static inline long linux_kcmp(int first, int second, int type) {
    return linux_result(syscall(SYS_kcmp, first, second, type, 0, 0));
}

static inline long linux_syncfs(int descriptor) {
    return linux_result(syscall(SYS_syncfs, descriptor));
}

// Asks the kernel to send `signal_number` to this process when its parent dies.
static inline long linux_set_parent_death_signal(int signal_number) {
    return linux_result(prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0));
}

// Asks for the quota of a user (0) or a group (1) on the filesystem that holds an open file:
// quotactl_fd(2) of Linux 5.14, which glibc 2.36 does not wrap.
static inline long linux_get_quota(int descriptor, int type, unsigned int identifier,
                                   struct if_dqblk *quota) {
    const int quotactl_fd = 443;
    return linux_result(
        syscall(quotactl_fd, descriptor, QCMD(Q_GETQUOTA, type), identifier, quota));
}

// Sends one datagram to a socket of this machine, without waiting. An address that begins with a NUL
// is one without a name in any directory.
static inline long linux_send_datagram(const void *address, size_t address_size,
                                       const void *message, size_t size) {
    struct sockaddr_un target = {0};
    if (address_size == 0 || address_size >= sizeof target.sun_path) return -(long)ENAMETOOLONG;
    target.sun_family = AF_UNIX;
    memcpy(target.sun_path, address, address_size);
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -(long)errno;
    size_t length = offsetof(struct sockaddr_un, sun_path) + address_size;
    // The terminator belongs to a path, but not to an address without one.
    if (target.sun_path[0] != 0) length++;
    long result = linux_result(sendto(descriptor, message, size, MSG_NOSIGNAL | MSG_DONTWAIT,
                                      (struct sockaddr *)&target, (socklen_t)length));
    close(descriptor);
    return result;
}

// Keeps SIGINT, SIGTERM and SIGHUP from the calling thread until they are let through again.
static inline void linux_hold_signals(sigset_t *before) {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &held, before);
}

static inline void linux_release_signals(const sigset_t *before) {
    pthread_sigmask(SIG_SETMASK, before, 0);
}

// Sleeps with the given signals only held back: none that came before is missed. EINTR tells that
// one came.
static inline long linux_sleep_with_signals(const struct timespec *time, const sigset_t *mask) {
    return linux_result(pselect(0, 0, 0, 0, time, mask));
}

// libattr reports each failing attribute through a variadic callback, which Swift cannot provide.
// The first failure is kept: its errno, and the attribute's name behind the callback's format.
struct linux_copy_failure {
    struct error_context context;
    int error_number;
    int failure_count;
};

static inline void linux_note_copy_failure(struct error_context *context, const char *format, ...) {
    struct linux_copy_failure *failure = (struct linux_copy_failure *)(void *)context;
    (void)format;
    if (failure->failure_count++ == 0) failure->error_number = errno;
}

static inline const char *linux_keep_name(struct error_context *context, const char *name) {
    (void)context;
    return name;
}

static inline void linux_forget_name(struct error_context *context, const char *name) {
    (void)context;
    (void)name;
}

static inline int linux_copy_unless_skipped(const char *name, struct error_context *context) {
    return attr_copy_action(name, context) != ATTR_ACTION_SKIP;
}

// Copies all extended attributes that xattr.conf(5) does not skip: 0, or minus the first errno.
static inline long linux_copy_attributes(const char *source_path, int source,
                                         const char *target_path, int target) {
    struct linux_copy_failure failure = {
        {linux_note_copy_failure, linux_keep_name, linux_forget_name}, 0, 0};
    int result = attr_copy_fd(source_path, source, target_path, target, linux_copy_unless_skipped,
                              &failure.context);
    if (result == 0 && failure.failure_count == 0) return 0;
    return failure.error_number ? -(long)failure.error_number : -(long)errno;
}

#endif
