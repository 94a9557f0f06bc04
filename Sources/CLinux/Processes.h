// Processes, threads, signals, clocks and sockets.

#ifndef RESOURCE_VALUES_PROCESSES_H
#define RESOURCE_VALUES_PROCESSES_H

#include "Result.h"

LINUX_CALL(fchdir, (int descriptor), (descriptor))

// Returns the environment variable at an index, as NAME=VALUE; NULL after the last. Not read from
// Swift, which treats `environ` as a global variable shared by threads.
static inline const char *linux_environment_entry(long number) {
    extern char **environ;
    return environ[number];
}

// Gives the calling thread a working directory of its own (CLONE_FS; needs no privilege).
static inline long linux_unshare_working_directory(void) {
    return linux_result(syscall(SYS_unshare, CLONE_FS));
}

// Moves the calling thread, which shares no directories, into a mount namespace: setns(2).
static inline long linux_enter_mount_namespace(int descriptor) {
    return linux_result(syscall(SYS_setns, descriptor, CLONE_NEWNS));
}

// Reads the working directory's path, of any length, into memory that the caller frees. Where the
// path is longer than the kernel returns, glibc walks up the tree itself.
static inline long linux_getcwd(char **path) {
    *path = getcwd(NULL, 0);
    return *path ? 0 : -(long)errno;
}

// Reads the kernel clock's status: the flags STA_... of adjtimex(2).
static inline long linux_get_clock_flags(int *flags) {
    struct timex state = {.modes = 0};
    if (adjtimex(&state) < 0) return -(long)errno;
    *flags = state.status;
    return 0;
}

// Reads the limit on open descriptors (RLIMIT_NOFILE), which glibc declares with an enum type that
// Swift does not match.
static inline long linux_get_descriptor_limit(struct rlimit *limit) {
    return linux_result(getrlimit(RLIMIT_NOFILE, limit));
}

static inline long linux_set_descriptor_limit(const struct rlimit *limit) {
    return linux_result(setrlimit(RLIMIT_NOFILE, limit));
}

// Returns the number of processors this process may run on, or minus the errno.
static inline long linux_available_processors(void) {
    unsigned long processors[128];
    long size = syscall(SYS_sched_getaffinity, 0, sizeof processors, processors);
    if (size < 0) return -(long)errno;
    long count = 0;
    for (size_t index = 0; index < (size_t)size / sizeof *processors; index++)
        count += __builtin_popcountl(processors[index]);
    return count;
}

// Starts a program with /dev/null as its standard input, and descriptors as its standard output and
// error; -1 stands for /dev/null. A null environment stands for this process's own, and -1 for the
// calling thread's working directory. Returns its pid.
static inline long linux_spawn(const char *path, char *const *arguments, char *const *environment,
                               int directory, int output, int messages) {
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
    if (output < 0) posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    else posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (messages < 0) posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    else posix_spawn_file_actions_adddup2(&actions, messages, 2);
    if (directory >= 0) posix_spawn_file_actions_addfchdir_np(&actions, directory);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    int result = posix_spawn(&process, path, &actions, &attributes, arguments,
                             environment ? environment : environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return result == 0 ? process : -result;
}

// Waits until a descriptor can be read: poll(2). Returns 0 if the time, in milliseconds, passed.
static inline long linux_wait_for_input(int descriptor, int milliseconds) {
    struct pollfd request = {.fd = descriptor, .events = POLLIN};
    return linux_result(poll(&request, 1, milliseconds));
}

// Waits without a limit until an event (POLLPRI) happens to a descriptor: poll(2). Returns minus
// ENODEV when no more events can come.
static inline long linux_wait_for_event(int descriptor) {
    struct pollfd request = {.fd = descriptor, .events = POLLPRI};
    long result = linux_result(poll(&request, 1, -1));
    if (result < 0) return result;
    return request.revents & (POLLERR | POLLHUP | POLLNVAL) ? -(long)ENODEV : 0;
}

// Waits for a child to end. Returns its exit code, or 128 plus the signal that ended it.
static inline long linux_wait(int process) {
    int status;
    if (waitpid(process, &status, 0) < 0) return -(long)errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// kill(2): with signal 0, checks only that the process exists and may be signalled.
LINUX_CALL(kill, (int process, int signal), (process, signal))

// Compares a resource of two threads: kcmp(2). Returns 0 if they share it.
LINUX_SYSCALL(kcmp, (int first, int second, int type), first, second, type, 0, 0)

// Sends one datagram to a local socket, without waiting. An address that begins with a NUL is in
// the abstract namespace.
static inline long linux_send_datagram(const void *address, size_t address_size,
                                       const void *message, size_t size) {
    struct sockaddr_un target = {0};
    if (address_size == 0 || address_size >= sizeof target.sun_path) return -(long)ENAMETOOLONG;
    target.sun_family = AF_UNIX;
    memcpy(target.sun_path, address, address_size);
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -(long)errno;
    size_t length = offsetof(struct sockaddr_un, sun_path) + address_size;
    // The length includes a path's terminator; an abstract address has none.
    if (target.sun_path[0] != 0) length++;
    long result = linux_result(sendto(descriptor, message, size, MSG_NOSIGNAL | MSG_DONTWAIT,
                                      (struct sockaddr *)&target, (socklen_t)length));
    close(descriptor);
    return result;
}

// Returns the number of columns of a terminal; 0 where it does not tell.
static inline long linux_get_terminal_columns(int descriptor) {
    struct winsize size = {0};
    return ioctl(descriptor, TIOCGWINSZ, &size) < 0 ? -(long)errno : size.ws_col;
}

// Blocks SIGINT, SIGTERM and SIGHUP for the calling thread and stores the previous signal mask.
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

// Sleeps with the given signal mask in place: no signal that arrived before is missed. Returns
// minus EINTR if a signal arrived.
static inline long linux_sleep_with_signals(const struct timespec *time, const sigset_t *mask) {
    return linux_result(pselect(0, 0, 0, 0, time, mask));
}

#endif
