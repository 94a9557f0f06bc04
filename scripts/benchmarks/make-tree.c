// make-tree [-b] [-e N] [-p N] [-l N] ROOT TOP MIDDLE LEAF FILES
//
// Makes the tree that the benchmarks walk: ROOT (which must not exist) contains TOP directories, each
// of them MIDDLE directories, each of those LEAF directories, each of those FILES empty files.
// 10 20 50 50 is 10,000 directories of 50 files: 510,210 entries below ROOT.
//
// If one of TOP, MIDDLE and LEAF is 0, its level is omitted: 500 0 0 500 is 500 directories of
// 500 files. -l N adds N files to each TOP directory. -b allocates 4 KiB for each file without
// writing data, so that deleting the file would free space.
//
// -e N stores isExcludedFromBackup=true on one file in N, -p N isPurgeable=true, always on the same
// files, so that every run measures the same tree.
//
// It measures nothing itself. A file costs one mknodat, and three more calls if it is marked or has
// blocks. A single thread makes everything, so that the layout on disk is deterministic.
//
// Prints one line: the number of entries below ROOT, a space, and the number of files marked by -e.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LEVELS = 3, BLOCK = 4096 };

static const char *const LEVEL_NAMES[LEVELS] = {"top", "middle", "leaf"};

static uintmax_t directories_per_level[LEVELS], files_per_leaf;
static uintmax_t excluded_one_in, purgeable_one_in, loose_files;
static int has_blocks;
static uintmax_t entries, files, excluded_files;

static void stop(const char *what, const char *why) {
    fprintf(stderr, "make-tree: %s: %s\n", what, why);
    exit(2);
}

static int make_directory(int parent, const char *name) {
    if (mkdirat(parent, name, 0755) != 0) stop(name, strerror(errno));
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) stop(name, strerror(errno));
    return fd;
}

static int is_chosen(uintmax_t one_in) {
    return one_in > 0 && files % one_in == 37 % one_in;
}

static void fill(int directory, const char *name) {
    int fd = openat(directory, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) stop(name, strerror(errno));
    if (has_blocks && posix_fallocate(fd, 0, BLOCK) != 0) stop(name, "no room");
    if (is_chosen(excluded_one_in)) {
        if (fsetxattr(fd, "user.resval.isExcludedFromBackup", "true", 4, 0) != 0)
            stop(name, strerror(errno));
        excluded_files++;
    }
    if (is_chosen(purgeable_one_in))
        if (fsetxattr(fd, "user.resval.isPurgeable", "true", 4, 0) != 0)
            stop(name, strerror(errno));
    close(fd);
}

static void make_files(int directory, uintmax_t count) {
    for (uintmax_t index = 0; index < count; index++) {
        char name[32];
        snprintf(name, sizeof name, "file%02ju", index);
        if (mknodat(directory, name, S_IFREG | 0644, 0) != 0) stop(name, strerror(errno));
        if (has_blocks || is_chosen(excluded_one_in) || is_chosen(purgeable_one_in))
            fill(directory, name);
        files++;
        entries++;
    }
}

static void make_level(int parent, int level) {
    if (level == LEVELS) {
        make_files(parent, files_per_leaf);
        return;
    }
    if (directories_per_level[level] == 0) {
        make_level(parent, level + 1);
        return;
    }
    for (uintmax_t index = 0; index < directories_per_level[level]; index++) {
        char name[32];
        snprintf(name, sizeof name, "%s%02ju", LEVEL_NAMES[level], index);
        int fd = make_directory(parent, name);
        entries++;
        if (level == 0) make_files(fd, loose_files);
        make_level(fd, level + 1);
        close(fd);
    }
}

static uintmax_t number(const char *text) {
    char *end;
    uintmax_t value = strtoumax(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0') stop(text, "not a number");
    return value;
}

int main(int count, char **arguments) {
    for (int option; (option = getopt(count, arguments, "be:p:l:")) != -1;) {
        if (option == 'e') excluded_one_in = number(optarg);
        else if (option == 'p') purgeable_one_in = number(optarg);
        else if (option == 'l') loose_files = number(optarg);
        else if (option == 'b') has_blocks = 1;
        else return 64;
    }
    if (optind + 5 != count) {
        fputs("usage: make-tree [-b] [-e N] [-p N] [-l N] ROOT TOP MIDDLE LEAF FILES\n", stderr);
        return 64;
    }
    for (int level = 0; level < LEVELS; level++)
        directories_per_level[level] = number(arguments[optind + 1 + level]);
    files_per_leaf = number(arguments[optind + 4]);

    int root = make_directory(AT_FDCWD, arguments[optind]);
    make_level(root, 0);
    close(root);
    printf("%ju %ju\n", entries, excluded_files);
    return 0;
}
