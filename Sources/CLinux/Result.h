// What glibc's Swift module lacks: headers it does not import, calls glibc does not wrap, and
// variadic functions Swift cannot call. Every function here returns its result, or minus the
// errno, so that callers never read a thread-local errno after other code has run.

#ifndef RESOURCE_VALUES_RESULT_H
#define RESOURCE_VALUES_RESULT_H

// Nothing here may depend on _GNU_SOURCE: glibc's Swift module is built without it, and a file that
// imports two modules cannot use a type that differs between them. What only that macro would
// declare comes from the kernel's own headers or is declared below.

#include <attr/error_context.h>
#include <attr/libattr.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/magic.h>
#include <linux/quota.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

static inline long linux_result(long result) { return result < 0 ? -(long)errno : result; }

// Defines linux_NAME, which calls NAME with the same arguments.
#define LINUX_CALL(name, parameters, arguments) \
    static inline long linux_##name parameters { return linux_result(name arguments); }

// Defines linux_NAME, which makes the call of that name by its number.
#define LINUX_SYSCALL(name, parameters, ...) \
    static inline long linux_##name parameters { \
        return linux_result(syscall(SYS_##name, __VA_ARGS__)); \
    }

#endif
