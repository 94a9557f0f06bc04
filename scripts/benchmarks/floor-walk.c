// floor-walk [-0] [-c] [-s] [-j THREADS] ROOT
//
// Measures: walking a tree and printing every entry that is marked isExcludedFromBackup=true, which is
// the work of `resval find --excluded ROOT`.
//
// Why it is a floor: getdents64 must be called to read the names, and listxattrat (or a call that
// costs as much) once per entry to find out whether it has attributes. This program makes only those
// calls: no stat, no allocation per entry, no path unless there is something to print. Only an entry
// with the attribute costs a second call, getxattrat, and its path. The threads share the directories
// through one stack. Only "." and ".." are skipped.
//
// listxattrat is called with a small buffer, because the kernel allocates memory of the size of the
// buffer; for an entry with a longer list it is called again with the largest size that Linux allows.
//
// -0 ends paths with NUL instead of newline, -c prints the number of entries below ROOT on standard
// error. Paths longer than PATH_MAX are reported, not walked.
//
// -s reads what a purge plan must know about each entry, which is the work of `resval-purge plan ROOT`:
// type, size, blocks, owner, link count, inode, all four times and whether it is a mount point, with one
// statx; and the names of its attributes, with listxattrat as above. It prints one line instead of paths:
// the allocated bytes of the entries below ROOT, and the number of entries with the attribute. Entries
// are not stored or sorted.
//
// Exit: 0 success, 2 something could not be read, 3 the kernel has no xattrat calls, 64 usage.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { GETXATTRAT = 464, LISTXATTRAT = 465 };
enum { SMALL_LIST = 256, LARGEST_LIST = 65536, LARGEST_VALUE = 64, MOST_THREADS = 256 };
enum { DIRECTORY_BUFFER = 32768, OUTPUT_BUFFER = 65536 };

static const char ATTRIBUTE[] = "user.resval.isExcludedFromBackup";

struct value_request {
    uint64_t value;
    uint32_t size;
    uint32_t flags;
};

struct directory {
    struct directory *next;
    size_t length;
    char path[];
};

struct walker {
    pthread_t thread;
    uint64_t entries, bytes, marked;
    struct timespec newest;
    struct directory *found;
    size_t output_length;
    char output[OUTPUT_BUFFER];
    char list[LARGEST_LIST];
    char names[DIRECTORY_BUFFER] __attribute__((aligned(8)));
};

static pthread_mutex_t stack_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stack_changed = PTHREAD_COND_INITIALIZER;
static struct directory *stack;
static size_t unfinished_directories;

static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;
static char record_end = '\n';
static bool asks_for_status;
static uid_t user;
static atomic_bool failed;

static void stop(int status, const char *message) {
    fprintf(stderr, "floor-walk: %s\n", message);
    _exit(status);
}

static void report(const char *directory, const char *name) {
    if (errno == ENOSYS) stop(3, "this kernel has no listxattrat (it came with Linux 6.13)");
    const char *separator = *directory && *name ? "/" : "";
    fprintf(stderr, "floor-walk: %s%s%s: %s\n", directory, separator, name, strerror(errno));
    failed = true;
}

static struct directory *make_directory(const struct directory *parent, const char *name) {
    size_t parent_length = parent ? parent->length : 0, name_length = strlen(name);
    struct directory *made = malloc(sizeof *made + parent_length + name_length + 2);
    if (!made) stop(2, "out of memory");
    char *end = made->path;
    if (parent) {
        end = mempcpy(end, parent->path, parent_length);
        if (end[-1] != '/') *end++ = '/';
    }
    end = mempcpy(end, name, name_length + 1);
    made->length = (size_t)(end - made->path) - 1;
    return made;
}

static void flush(struct walker *self) {
    pthread_mutex_lock(&output_lock);
    for (size_t done = 0; done < self->output_length;) {
        ssize_t count = write(STDOUT_FILENO, self->output + done, self->output_length - done);
        if (count < 0 && errno != EINTR) stop(2, strerror(errno));
        if (count > 0) done += (size_t)count;
    }
    pthread_mutex_unlock(&output_lock);
    self->output_length = 0;
}

static void print(struct walker *self, const struct directory *parent, const char *name) {
    size_t parent_length = parent ? parent->length : 0, name_length = strlen(name);
    if (parent_length + name_length + 2 > OUTPUT_BUFFER) stop(2, "a path is too long to print");
    if (self->output_length + parent_length + name_length + 2 > OUTPUT_BUFFER) flush(self);
    char *start = self->output + self->output_length, *end = start;
    if (parent) {
        end = mempcpy(end, parent->path, parent_length);
        if (end[-1] != '/') *end++ = '/';
    }
    end = mempcpy(end, name, name_length);
    *end++ = record_end;
    self->output_length += (size_t)(end - start);
}

static bool is_listed(const char *list, size_t length) {
    for (const char *name = list; name < list + length; name += strlen(name) + 1)
        if (strcmp(name, ATTRIBUTE) == 0) return true;
    return false;
}

// The reading rules of the attribute format: `true` or `1`, any ASCII case, and one newline or NUL
// at the end.
static bool means_true(const char *value, size_t length) {
    if (length > 0 && (value[length - 1] == '\n' || value[length - 1] == '\0')) length--;
    return (length == 1 && *value == '1') || (length == 4 && strncasecmp(value, "true", 4) == 0);
}

static void inspect(struct walker *self, int fd, const struct directory *parent, const char *name) {
    const int flags = AT_SYMLINK_NOFOLLOW;
    long length = syscall(LISTXATTRAT, fd, name, flags, self->list, SMALL_LIST);
    if (length < 0 && errno == ERANGE)
        length = syscall(LISTXATTRAT, fd, name, flags, self->list, LARGEST_LIST);
    if (length == 0 || (length < 0 && errno == EOPNOTSUPP)) return;
    if (length < 0) {
        report(parent ? parent->path : "", name);
        return;
    }
    if (!is_listed(self->list, (size_t)length)) return;
    if (asks_for_status) {
        self->marked++;
        return;
    }
    char value[LARGEST_VALUE];
    struct value_request request = {(uintptr_t)value, sizeof value, 0};
    length = syscall(GETXATTRAT, fd, name, flags, ATTRIBUTE, &request, sizeof request);
    if (length < 0 && errno != ERANGE && errno != ENODATA) report(parent ? parent->path : "", name);
    if (length > 0 && means_true(value, (size_t)length)) print(self, parent, name);
}

static bool is_directory(int fd, const struct dirent64 *entry) {
    if (entry->d_type != DT_UNKNOWN) return entry->d_type == DT_DIR;
    struct stat status;
    return fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

static bool is_newer(struct statx_timestamp time, struct timespec than) {
    return time.tv_sec != than.tv_sec ? time.tv_sec > than.tv_sec : time.tv_nsec > than.tv_nsec;
}

// Uses every field that a plan uses, so that none is optimized away.
static void note_status(struct walker *self, int fd, const struct directory *parent,
                        const char *name) {
    const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    struct statx status;
    if (statx(fd, name, flags, STATX_BASIC_STATS | STATX_BTIME, &status) != 0) {
        report(parent->path, name);
        return;
    }
    const struct statx_timestamp times[] = {
        status.stx_atime, status.stx_mtime, status.stx_ctime, status.stx_btime};
    for (size_t index = 0; index < sizeof times / sizeof *times; index++)
        if (is_newer(times[index], self->newest))
            self->newest = (struct timespec){times[index].tv_sec, times[index].tv_nsec};
    bool is_mount = status.stx_attributes & STATX_ATTR_MOUNT_ROOT;
    bool is_linked = !S_ISDIR(status.stx_mode) && status.stx_nlink > 1;
    if (is_mount || is_linked || status.stx_uid != user || status.stx_ino == 0) return;
    self->bytes += status.stx_blocks * 512;
}

static bool is_dot_or_dot_dot(const char *name) {
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static void walk_directory(struct walker *self, const struct directory *directory) {
    int fd = open(directory->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        report(directory->path, "");
        return;
    }
    ssize_t length;
    while ((length = getdents64(fd, self->names, DIRECTORY_BUFFER)) > 0) {
        for (ssize_t offset = 0; offset < length;) {
            const struct dirent64 *entry = (const void *)(self->names + offset);
            offset += entry->d_reclen;
            if (is_dot_or_dot_dot(entry->d_name)) continue;
            self->entries++;
            if (asks_for_status) note_status(self, fd, directory, entry->d_name);
            inspect(self, fd, directory, entry->d_name);
            if (!is_directory(fd, entry)) continue;
            struct directory *child = make_directory(directory, entry->d_name);
            child->next = self->found;
            self->found = child;
        }
    }
    if (length < 0) report(directory->path, "");
    close(fd);
}

// Pushes the subdirectories found in the last directory onto the shared stack, and pops the next one.
// Returns NULL when no directory is left and no thread can find another.
static struct directory *exchange(struct walker *self, bool finished_one) {
    pthread_mutex_lock(&stack_lock);
    bool wake = self->found != NULL;
    while (self->found) {
        struct directory *child = self->found;
        self->found = child->next;
        child->next = stack;
        stack = child;
        unfinished_directories++;
    }
    if (finished_one) unfinished_directories--;
    if (wake || unfinished_directories == 0) pthread_cond_broadcast(&stack_changed);
    while (!stack && unfinished_directories > 0) pthread_cond_wait(&stack_changed, &stack_lock);
    struct directory *next = stack;
    if (next) stack = next->next;
    pthread_mutex_unlock(&stack_lock);
    return next;
}

static void *walk(void *argument) {
    struct walker *self = argument;
    struct directory *directory = exchange(self, false);
    while (directory) {
        walk_directory(self, directory);
        free(directory);
        directory = exchange(self, true);
    }
    flush(self);
    return NULL;
}

int main(int count, char **arguments) {
    long threads = 2;
    bool counts_entries = false;
    for (int option; (option = getopt(count, arguments, "0csj:")) != -1;) {
        if (option == '0') record_end = '\0';
        else if (option == 'c') counts_entries = true;
        else if (option == 's') asks_for_status = true;
        else if (option == 'j') threads = strtol(optarg, NULL, 10);
        else return 64;
    }
    if (optind + 1 != count || threads < 1 || threads > MOST_THREADS)
        stop(64, "usage: floor-walk [-0] [-c] [-s] [-j THREADS] ROOT");

    struct walker *walkers = calloc((size_t)threads, sizeof *walkers);
    if (!walkers) stop(2, "out of memory");
    user = geteuid();
    inspect(&walkers[0], AT_FDCWD, NULL, arguments[optind]);
    walkers[0].found = make_directory(NULL, arguments[optind]);
    unfinished_directories = 1;
    stack = walkers[0].found;
    stack->next = NULL;
    walkers[0].found = NULL;

    for (long index = 1; index < threads; index++)
        if (pthread_create(&walkers[index].thread, NULL, walk, &walkers[index]) != 0)
            stop(2, "a thread could not be started");
    walk(&walkers[0]);
    struct walker *total = &walkers[0];
    for (long index = 1; index < threads; index++) {
        pthread_join(walkers[index].thread, NULL);
        total->entries += walkers[index].entries;
        total->bytes += walkers[index].bytes;
        total->marked += walkers[index].marked;
    }
    if (counts_entries) fprintf(stderr, "%ju\n", (uintmax_t)total->entries);
    if (asks_for_status)
        printf("%ju %ju\n", (uintmax_t)total->bytes, (uintmax_t)total->marked);
    free(walkers);
    return failed ? 2 : 0;
}
