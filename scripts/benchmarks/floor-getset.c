// floor-getset get|set|set-only|remove LIST
//
// Measures: reading (or storing) the mark isExcludedFromBackup of every path in LIST, a file of
// NUL-ended paths, which is the work of `resval get isExcludedFromBackup --files0-from LIST`.
//
// Why it is a floor: each path costs exactly one getxattr or setxattr by path, which cannot be
// avoided; the list is read and `PATH: value` lines are printed through large buffers, and nothing is
// allocated per path. Symbolic links are followed, as by both commands. `set` also reads the link
// count, as `resval set` must in order to warn that a mark on a file with several hard links does not
// count for backups. `set-only` only stores.
//
// `remove` removes the marks, so that every measured `set` is run on files without marks.
//
// Exit: 0 success, 1 get found a path without the mark, 2 some paths failed, 64 usage.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>

static const char ATTRIBUTE[] = "user.resval.isExcludedFromBackup";
static char input_buffer[65536], output_buffer[65536];

static bool unset_seen, failed;

static void report(const char *path) {
    fprintf(stderr, "floor-getset: %s: %s\n", path, strerror(errno));
    failed = true;
}

static void get(const char *path, size_t length) {
    char value[64];
    ssize_t size = getxattr(path, ATTRIBUTE, value, sizeof value);
    if (size < 0) {
        if (errno == ENODATA) unset_seen = true;
        else report(path);
        return;
    }
    fwrite_unlocked(path, 1, length, stdout);
    fwrite_unlocked(": ", 1, 2, stdout);
    fwrite_unlocked(value, 1, (size_t)size, stdout);
    putchar_unlocked('\n');
}

static void set_only(const char *path, size_t length) {
    (void)length;
    if (setxattr(path, ATTRIBUTE, "true", 4, 0) != 0) report(path);
}

static void set(const char *path, size_t length) {
    struct statx status;
    set_only(path, length);
    if (statx(AT_FDCWD, path, 0, STATX_TYPE | STATX_NLINK, &status) != 0) report(path);
    else if (S_ISREG(status.stx_mode) && status.stx_nlink > 1)
        fprintf(stderr, "floor-getset: %s: %u names\n", path, status.stx_nlink);
}

static void unset(const char *path, size_t length) {
    (void)length;
    if (removexattr(path, ATTRIBUTE) != 0 && errno != ENODATA) report(path);
}

static int usage(void) {
    fputs("usage: floor-getset get|set|set-only|remove LIST\n", stderr);
    return 64;
}

int main(int count, char **arguments) {
    if (count != 3) return usage();
    void (*act)(const char *, size_t);
    if (strcmp(arguments[1], "get") == 0) act = get;
    else if (strcmp(arguments[1], "set") == 0) act = set;
    else if (strcmp(arguments[1], "set-only") == 0) act = set_only;
    else if (strcmp(arguments[1], "remove") == 0) act = unset;
    else return usage();

    FILE *list = fopen(arguments[2], "re");
    if (!list) {
        report(arguments[2]);
        return 2;
    }
    setvbuf(list, input_buffer, _IOFBF, sizeof input_buffer);
    setvbuf(stdout, output_buffer, _IOFBF, sizeof output_buffer);

    char *path = NULL;
    size_t capacity = 0;
    for (ssize_t length; (length = getdelim(&path, &capacity, '\0', list)) > 0;) {
        bool ended = path[length - 1] == '\0';
        act(path, (size_t)length - (ended ? 1 : 0));
    }
    if (ferror(list)) report(arguments[2]);
    if (fflush(stdout) != 0) report("standard output");
    free(path);
    fclose(list);
    return failed ? 2 : unset_seen ? 1 : 0;
}
