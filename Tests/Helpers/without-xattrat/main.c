// without-xattrat PROGRAM [ARGUMENT…]
//
// Runs a program, and all it starts, as on a kernel before Linux 6.13: the four xattrat calls
// answer ENOSYS. Exits with 125 when the calls cannot be taken away, 127 when the program cannot
// be run.

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

// setxattrat, getxattrat, listxattrat, removexattrat
#define FIRST_CALL 463
#define LAST_CALL 466

static int install_filter(void) {
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        // Another architecture's numbers mean other calls: all of them stay allowed.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCHITECTURE, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_CALL, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_CALL, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
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
    if (count < 2) {
        fputs("usage: without-xattrat PROGRAM [ARGUMENT...]\n", stderr);
        return 64;
    }
    if (install_filter() != 0) {
        fprintf(stderr, "without-xattrat: seccomp: %s\n", strerror(errno));
        return 125;
    }
    if (syscall(FIRST_CALL + 2, AT_FDCWD, ".", 0, NULL, 0) != -1 || errno != ENOSYS) {
        fputs("without-xattrat: the calls are still there\n", stderr);
        return 125;
    }
    execvp(arguments[1], arguments + 1);
    fprintf(stderr, "without-xattrat: %s: %s\n", arguments[1], strerror(errno));
    return 127;
}
