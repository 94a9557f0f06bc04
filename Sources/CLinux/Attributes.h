// Extended attributes.

#ifndef RESOURCE_VALUES_ATTRIBUTES_H
#define RESOURCE_VALUES_ATTRIBUTES_H

#include "Result.h"

// The call numbers of Linux 6.13, the same on every architecture; glibc 2.36 defines none of them.
#define LINUX_SYS_setxattrat 463
#define LINUX_SYS_getxattrat 464
#define LINUX_SYS_listxattrat 465
#define LINUX_SYS_removexattrat 466

// struct xattr_args of linux/xattr.h, which Debian 12's headers lack.
struct linux_xattr_args {
    uint64_t value __attribute__((aligned(8)));
    uint32_t size;
    uint32_t flags;
};

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

// Fails with EBADF where the xattrat calls may be used.
static inline long linux_probe_listxattrat(void) {
    return linux_listxattrat(-1, ".", 0, NULL, 0);
}

static inline long linux_removexattrat(int directory, const char *path, unsigned int at_flags,
                                       const char *name) {
    return linux_result(syscall(LINUX_SYS_removexattrat, directory, path, at_flags, name));
}

// The calls on a path, on a path whose last link is not followed, and on a descriptor.
#define LINUX_ATTRIBUTE_CALLS(prefix, item_type) \
    LINUX_CALL(prefix##getxattr, (item_type item, const char *name, void *value, size_t size), \
               (item, name, value, size)) \
    LINUX_CALL(prefix##setxattr, \
               (item_type item, const char *name, const void *value, size_t size, int flags), \
               (item, name, value, size, flags)) \
    LINUX_CALL(prefix##listxattr, (item_type item, char *list, size_t size), (item, list, size)) \
    LINUX_CALL(prefix##removexattr, (item_type item, const char *name), (item, name))

LINUX_ATTRIBUTE_CALLS(, const char *)
LINUX_ATTRIBUTE_CALLS(l, const char *)
LINUX_ATTRIBUTE_CALLS(f, int)

// libattr reports each failing attribute through a variadic callback, which Swift cannot provide.
// The errno of the first failure is kept, and the failures are counted.
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

// Copies all extended attributes that xattr.conf(5) does not skip. Returns 0, or minus the first
// errno.
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
