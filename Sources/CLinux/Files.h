// Opening, reading, writing, naming and locking files.

#ifndef RESOURCE_VALUES_FILES_H
#define RESOURCE_VALUES_FILES_H

#include "Result.h"

LINUX_CALL(openat, (int directory, const char *path, int flags, mode_t mode),
           (directory, path, flags, mode))
LINUX_CALL(close, (int descriptor), (descriptor))
LINUX_CALL(readlinkat, (int directory, const char *path, char *buffer, size_t size),
           (directory, path, buffer, size))
LINUX_CALL(read, (int descriptor, void *buffer, size_t size), (descriptor, buffer, size))
LINUX_CALL(write, (int descriptor, const void *buffer, size_t size), (descriptor, buffer, size))
LINUX_CALL(lseek, (int descriptor, off_t offset, int whence), (descriptor, offset, whence))
LINUX_CALL(pread, (int descriptor, void *buffer, size_t size, off_t offset),
           (descriptor, buffer, size, offset))
LINUX_CALL(unlink, (const char *path), (path))
LINUX_CALL(chmod, (const char *path, mode_t mode), (path, mode))
LINUX_CALL(renameat,
           (int old_directory, const char *old_name, int new_directory, const char *new_name),
           (old_directory, old_name, new_directory, new_name))
LINUX_CALL(utimensat, (int directory, const char *path, const struct timespec *times, int flags),
           (directory, path, times, flags))
LINUX_CALL(mkdirat, (int directory, const char *name, mode_t mode), (directory, name, mode))
LINUX_CALL(symlinkat, (const char *target, int directory, const char *name),
           (target, directory, name))
LINUX_CALL(unlinkat, (int directory, const char *name, int flags), (directory, name, flags))
LINUX_CALL(fsync, (int descriptor), (descriptor))
LINUX_CALL(flock, (int descriptor, int operation), (descriptor, operation))
LINUX_CALL(fchmod, (int descriptor, mode_t mode), (descriptor, mode))
LINUX_CALL(fchownat, (int directory, const char *path, uid_t user, gid_t group, int flags),
           (directory, path, user, group, flags))
LINUX_CALL(ftruncate, (int descriptor, off_t size), (descriptor, size))
LINUX_CALL(pwrite, (int descriptor, const void *bytes, size_t size, off_t offset),
           (descriptor, bytes, size, offset))

LINUX_SYSCALL(getdents64, (int descriptor, void *buffer, size_t size), descriptor, buffer, size)
LINUX_SYSCALL(statx, (int directory, const char *path, int flags, unsigned int mask,
                      struct statx *status),
              directory, path, flags, mask, status)
LINUX_SYSCALL(fallocate, (int descriptor, int mode, off_t offset, off_t length), descriptor, mode,
              offset, length)
LINUX_SYSCALL(renameat2, (int old_directory, const char *old_name, int new_directory,
                          const char *new_name, unsigned int flags),
              old_directory, old_name, new_directory, new_name, flags)

// Whether the names in an open directory are ciphertext (fscrypt): its policy's key is absent, or was
// removed while files are open. Old policies also take a key from the keyrings of the process. False
// where a filesystem cannot say.
static inline bool linux_is_locked(int directory) {
    struct fscrypt_get_policy_ex_arg policy = {.policy_size = sizeof policy.policy};
    if (ioctl(directory, FS_IOC_GET_ENCRYPTION_POLICY_EX, &policy) < 0) return false;
    struct fscrypt_get_key_status_arg key = {0};
    const bool is_old = policy.policy.version == FSCRYPT_POLICY_V1;
    const uint8_t *name = policy.policy.v1.master_key_descriptor;
    if (is_old) {
        key.key_spec.type = FSCRYPT_KEY_SPEC_TYPE_DESCRIPTOR;
        memcpy(key.key_spec.u.descriptor, name, FSCRYPT_KEY_DESCRIPTOR_SIZE);
    } else {
        key.key_spec.type = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER;
        memcpy(key.key_spec.u.identifier, policy.policy.v2.master_key_identifier,
               FSCRYPT_KEY_IDENTIFIER_SIZE);
    }
    if (ioctl(directory, FS_IOC_GET_ENCRYPTION_KEY_STATUS, &key) < 0) return false;
    if (key.status == FSCRYPT_KEY_STATUS_PRESENT) return false;
    const char *const prefixes[] = {"fscrypt", "ext4", "f2fs"};
    for (int index = 0; is_old && index < 3; index++) {
        char description[32];
        snprintf(description, sizeof description, "%s:%02x%02x%02x%02x%02x%02x%02x%02x",
                 prefixes[index], name[0], name[1], name[2], name[3], name[4], name[5], name[6],
                 name[7]);
        if (syscall(SYS_request_key, "logon", description, NULL, 0) >= 0) return false;
    }
    return true;
}

// Writes the handle of an item as /proc/PID/fdinfo does. Returns the length of the text; 300 bytes
// are enough.
static inline long linux_file_handle(int directory, const char *path, int flags, char *text) {
    struct {
        uint32_t size;
        int32_t type;
        uint8_t bytes[128];
    } handle = {.size = sizeof handle.bytes};
    int mount = 0;
    if (syscall(SYS_name_to_handle_at, directory, path, &handle, &mount, flags) < 0) {
        return -(long)errno;
    }
    long length = sprintf(text, "fhandle-type:%x f_handle:", (unsigned)handle.type);
    for (uint32_t index = 0; index < handle.size; index++) {
        length += sprintf(text + length, "%02x", handle.bytes[index]);
    }
    return length;
}

// Sets the modification time and leaves the access time unchanged.
static inline long linux_set_modification_time(int descriptor, time_t seconds, long nanoseconds) {
    struct timespec times[2] = {{0, UTIME_OMIT}, {seconds, nanoseconds}};
    return linux_result(futimens(descriptor, times));
}

// Creates an unnamed file in memory, closed on exec.
static inline long linux_memfd_create(const char *name) {
    const unsigned int close_on_exec = 1;  // MFD_CLOEXEC
    return linux_result(syscall(SYS_memfd_create, name, close_on_exec));
}

// Creates a pipe, closed on exec: ends[0] is read from, ends[1] written to.
static inline long linux_pipe(int ends[2]) {
    return linux_result(syscall(SYS_pipe2, ends, O_CLOEXEC));
}

// The inode flags of chattr(1): FS_IOC_GETFLAGS.
static inline long linux_get_inode_flags(int descriptor, int *flags) {
    return linux_result(ioctl(descriptor, FS_IOC_GETFLAGS, flags));
}

static inline long linux_set_inode_flags(int descriptor, int flags) {
    return linux_result(ioctl(descriptor, FS_IOC_SETFLAGS, &flags));
}

// Checks the effective user's access to a file: faccessat2(2), or glibc's emulation of it.
static inline long linux_faccessat(int directory, const char *path, int mode, int flags) {
    return linux_result(faccessat(directory, path, mode, flags | AT_EACCESS));
}

// Creates an unnamed file in a directory, which linkat(2) can give a name.
static inline long linux_open_unnamed(int directory, mode_t mode) {
    const int unnamed = 020000000 | __O_DIRECTORY;  // O_TMPFILE
    return linux_result(openat(directory, ".", unnamed | O_RDWR | O_CLOEXEC, mode));
}

static inline long linux_linkat(int old_directory, const char *old_name, int new_directory,
                                const char *new_name, int flags) {
    return linux_result(linkat(old_directory, old_name, new_directory, new_name, flags));
}

// Creates a FIFO or a device node; `mode` includes the file type.
static inline long linux_mknodat(int directory, const char *name, mode_t mode, unsigned int major,
                                 unsigned int minor) {
    return linux_result(mknodat(directory, name, mode, gnu_dev_makedev(major, minor)));
}

// Makes a file share the blocks of another: FICLONE.
static inline long linux_clone_file(int target, int source) {
    return linux_result(ioctl(target, FICLONE, source));
}

// Copies a range to the same offset in another file, in the kernel.
static inline long linux_copy_file_range(int source, int target, off_t offset, size_t length) {
    int64_t from = offset, to = offset;
    return linux_result(syscall(SYS_copy_file_range, source, &from, target, &to, length, 0));
}

// Leases: F_SETLEASE and F_GETLEASE. A lease break is signalled by SIGURG, since SIGIO would
// terminate a process that does not handle it.
static inline long linux_set_lease(int descriptor, int type) {
    const int set_signal = 10, set_lease = 1024;  // F_SETSIG, F_SETLEASE
    if (fcntl(descriptor, set_signal, SIGURG) < 0) return -(long)errno;
    return linux_result(fcntl(descriptor, set_lease, type));
}

static inline long linux_get_lease(int descriptor) {
    const int get_lease = 1025;  // F_GETLEASE
    return linux_result(fcntl(descriptor, get_lease));
}

// Locks one byte of a file for the open file description, not for the process: F_OFD_SETLK.
static inline long linux_lock_byte(int descriptor, off_t offset, short type) {
    struct flock lock = {0};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = offset;
    lock.l_len = 1;
    const int set_lock = 37;  // F_OFD_SETLK
    return linux_result(fcntl(descriptor, set_lock, &lock));
}

// Opens a path below an open directory without following links and, unless crosses_mounts, without
// leaving the mount: openat2(2).
static inline long linux_open_beneath(
    int directory, const char *path, uint64_t flags, bool crosses_mounts) {
    // RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_XDEV
    struct { uint64_t flags, mode, resolve; } how = {
        flags, 0, 0x08 | 0x04 | 0x02 | (crosses_mounts ? 0 : 0x01)};
    return linux_result(syscall(437, directory, path, &how, sizeof how));
}

// Probes: calls with arguments that the kernel answers with EINVAL or EBADF.

static inline long linux_probe_statx(unsigned int mask) {
    struct statx status;
    return linux_statx(-1, ".", 0, mask, &status);
}

static inline long linux_probe_openat2(void) {
    return linux_result(syscall(437, -1, ".", NULL, 0));
}

static inline long linux_probe_renameat2(void) {
    return linux_result(syscall(SYS_renameat2, -1, ".", -1, ".", ~0U));
}

#endif
