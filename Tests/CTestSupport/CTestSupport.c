#define _GNU_SOURCE 1

#include "CTestSupport.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/fsuid.h>
#include <unistd.h>

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
