#define _GNU_SOURCE 1

#include "CTestSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// What tests, and the programs they start, may know of the environment: by name, or by its beginning.
static const char *const kept[] = {
    "ASAN_OPTIONS=", "CI=", "LD_LIBRARY_PATH=", "LSAN_OPTIONS=", "PATH=", "RESVAL_TEST_",
    "SWIFT_", "SWT_", "TSAN_OPTIONS=",
};

static int is_kept(const char *variable) {
    for (size_t index = 0; index < sizeof kept / sizeof *kept; index++) {
        if (strncmp(variable, kept[index], strlen(kept[index])) == 0) return 1;
    }
    return 0;
}

// Before the tests' process looks at its environment, however it was started: none of them may come to
// the home, the state or the settings of the person who runs them.
__attribute__((constructor)) static void close_environment(void) {
    const char *directory = getenv("TMPDIR");
    if (directory) setenv("RESVAL_TEST_DIRECTORY", directory, 1);
    char **next = environ;
    for (char **variable = environ; *variable; variable++) {
        if (is_kept(*variable)) *next++ = *variable;
    }
    *next = NULL;
    setenv("HOME", test_home, 1);
}

// In /proc nothing can be made, not even by root: a test that needs a home makes one.
const char *const test_home = "/proc/no-home";

int test_add_working_directory(void *file_actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(file_actions, path);
}

int test_add_close_from(void *file_actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(file_actions, first);
}

int test_make_pipe(int descriptors[2]) { return pipe2(descriptors, O_CLOEXEC); }

int test_open_path(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

int test_set_file_user(unsigned user) {
    setfsgid(user);
    setfsuid(user);
    // What is in force is the result of setting what cannot be set.
    return setfsuid((unsigned)-1) == (int)user ? 0 : -1;
}

int test_listen_for_datagrams(const void *address, int size) {
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    if (size < 1 || size >= (int)sizeof own.sun_path) return -1;
    memcpy(own.sun_path, address, (size_t)size);
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)size);
    if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&own, length) == 0) return descriptor;
    close(descriptor);
    return -1;
}

int test_receive_datagram(int descriptor, void *buffer, int size, int milliseconds) {
    struct pollfd waiting = {descriptor, POLLIN, 0};
    if (poll(&waiting, 1, milliseconds) != 1) return -1;
    return (int)recv(descriptor, buffer, (size_t)size, 0);
}

static int error_of(int result) { return result == 0 ? 0 : errno; }

int test_separate_mounts(void) {
    int error = error_of(unshare(CLONE_NEWNS));
    return error ? error : error_of(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

int test_mount(const char *type, const char *directory) {
    return error_of(mount("none", directory, type, 0, NULL));
}

int test_move_mount(const char *from, const char *to) {
    return error_of(mount(from, to, NULL, MS_MOVE, NULL));
}

int test_remount(const char *directory, int is_read_only) {
    return error_of(mount("none", directory, NULL, MS_REMOUNT | (is_read_only ? MS_RDONLY : 0), NULL));
}

int test_unmount(const char *directory) { return error_of(umount2(directory, MNT_DETACH)); }

int test_change_root(const char *directory) {
    int error = error_of(chroot(directory));
    return error ? error : error_of(chdir("/"));
}
