// without-calls CALL[,CALL…] ENOSYS|EPERM PROGRAM [ARGUMENT…]
//
// Runs a program, and all it starts, where system calls are refused, as by an older kernel or by the filter
// of a container or service: openat2, syncfs, renameat2, statx, statx-mounts (its fields that name mounts),
// xattrat (all four), pidfd (all three), lease (F_SETLEASE of fcntl). Exits with 125 when the calls cannot be taken away, 127 when the
// program cannot be run.

#define _GNU_SOURCE 1

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "no system call numbers known for this architecture"
#endif

// Refuses the calls from `first` to `last` for which an argument passes a test.
struct refusal {
    const char *name;
    unsigned int first, last, argument, test, operand;
};

#define EVERY_VALUE 0, BPF_JGE, 0

static const struct refusal refusals[] = {
    {"openat2", 437, 437, EVERY_VALUE},
    {"syncfs", SYS_syncfs, SYS_syncfs, EVERY_VALUE},
    {"renameat2", SYS_renameat2, SYS_renameat2, EVERY_VALUE},
    {"statx", SYS_statx, SYS_statx, EVERY_VALUE},
    // STATX_MNT_ID, STATX_MNT_ID_UNIQUE
    {"statx-mounts", SYS_statx, SYS_statx, 3, BPF_JSET, 0x1000 | 0x4000},
    {"xattrat", 463, 466, EVERY_VALUE},
    {"pidfd", 424, 424, EVERY_VALUE},  // pidfd_send_signal
    {"pidfd", 434, 434, EVERY_VALUE},  // pidfd_open
    {"pidfd", 438, 438, EVERY_VALUE},  // pidfd_getfd
    {"lease", SYS_fcntl, SYS_fcntl, 1, BPF_JEQ, F_SETLEASE},
};

static int install(const struct refusal *refusal, int code) {
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        // Another architecture's numbers mean other calls: all of them stay allowed.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCHITECTURE, 0, 6),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, refusal->first, 0, 4),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, refusal->last, 3, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 
                 offsetof(struct seccomp_data, args) + 8 * refusal->argument),
        BPF_JUMP(BPF_JMP | refusal->test | BPF_K, refusal->operand, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof instructions / sizeof *instructions, instructions};
    // With CAP_SYS_ADMIN no_new_privs is not needed; without it sudo and the like stop working below.
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0) return 0;
    if (errno != EACCES) return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int main(int count, char **arguments) {
    if (count < 4) {
        fputs("usage: without-calls CALL[,CALL...] ENOSYS|EPERM PROGRAM [ARGUMENT...]\n", stderr);
        return 64;
    }
    int code = strcmp(arguments[2], "EPERM") == 0 ? EPERM : ENOSYS;
    for (char *call = strtok(arguments[1], ","); call; call = strtok(NULL, ",")) {
        int found = 0;
        for (size_t index = 0; index < sizeof refusals / sizeof *refusals; index++) {
            const struct refusal *refusal = &refusals[index];
            if (strcmp(refusal->name, call) != 0) continue;
            found = 1;
            errno = 0;
            if (install(refusal, code) != 0) {
                fprintf(stderr, "without-calls: seccomp: %s\n", strerror(errno));
                return 125;
            }
            errno = 0;
            if (syscall(refusal->first, -1, refusal->operand, 0, refusal->operand) != -1 || errno != code) {
                fprintf(stderr, "without-calls: %s is still there\n", call);
                return 125;
            }
        }
        if (!found) {
            fprintf(stderr, "without-calls: unknown call %s\n", call);
            return 64;
        }
    }
    execvp(arguments[3], arguments + 3);
    fprintf(stderr, "without-calls: %s: %s\n", arguments[3], strerror(errno));
    return 127;
}
