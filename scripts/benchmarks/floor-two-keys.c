// floor-two-keys DIRECTORY ROUNDS
//
// Measures: reading isExcludedFromBackup and isPurgeable of every file in DIRECTORY by path, ROUNDS
// times, which is the work of a program that reads two values of a FilePath with the library.
//
// Why it is a floor: each value costs exactly one getxattr by path into a buffer on the stack,
// which cannot be avoided; the paths are made before the clock starts, and values are compared in the
// buffer.
//
// Prints one line: nanoseconds per file (both keys), a space, and the number of values that are true.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <time.h>

static void stop(int status, const char *what, const char *why) {
    fprintf(stderr, "floor-two-keys: %s: %s\n", what, why);
    exit(status);
}

static char **read_paths(const char *directory, size_t *count) {
    DIR *stream = opendir(directory);
    if (!stream) stop(2, directory, strerror(errno));
    char **paths = NULL;
    *count = 0;
    for (struct dirent *entry; (entry = readdir(stream));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        paths = realloc(paths, (*count + 1) * sizeof *paths);
        if (!paths || asprintf(&paths[*count], "%s/%s", directory, entry->d_name) < 0)
            stop(2, directory, "out of memory");
        ++*count;
    }
    closedir(stream);
    return paths;
}

static unsigned is_true(const char *path, const char *attribute) {
    char value[64];
    ssize_t length = getxattr(path, attribute, value, sizeof value);
    if (length < 0) {
        if (errno != ENODATA) stop(2, path, strerror(errno));
        return 0;
    }
    if (length > 0 && (value[length - 1] == '\n' || value[length - 1] == '\0')) length--;
    return (length == 4 && strncasecmp(value, "true", 4) == 0) || (length == 1 && *value == '1');
}

static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argument_count, char **arguments) {
    long rounds = argument_count == 3 ? strtol(arguments[2], NULL, 10) : 0;
    if (rounds < 1) stop(64, "usage", "floor-two-keys DIRECTORY ROUNDS");
    size_t count;
    char **paths = read_paths(arguments[1], &count);
    if (count == 0) stop(2, arguments[1], "no files");

    uintmax_t answers = 0;
    double start = nanoseconds();
    for (long round = 0; round < rounds; round++) {
        for (size_t index = 0; index < count; index++) {
            answers += is_true(paths[index], "user.resval.isExcludedFromBackup");
            answers += is_true(paths[index], "user.resval.isPurgeable");
        }
    }
    double elapsed = nanoseconds() - start;

    printf("%.1f %ju\n", elapsed / (double)count / (double)rounds, answers);
    for (size_t index = 0; index < count; index++) free(paths[index]);
    free(paths);
    return 0;
}
