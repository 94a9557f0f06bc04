// What tests need of glibc beyond what its Swift module shows.
//
// No system header here: read with _GNU_SOURCE it would clash with the Swift module's reading.

#ifndef RESOURCE_VALUES_CTESTSUPPORT_H
#define RESOURCE_VALUES_CTESTSUPPORT_H

// Has the spawned process start in a directory: posix_spawn_file_actions_addchdir_np(3).
int test_add_working_directory(void *file_actions, const char *path);

// Has the spawned process inherit no descriptor from `first` on:
// posix_spawn_file_actions_addclosefrom_np(3).
int test_add_close_from(void *file_actions, int first);

// The home of tests and of the programs they start, unless they name another: one that does not exist.
extern const char *const test_home;

// Makes a pipe that no program started at the same time inherits: pipe2(2) with O_CLOEXEC.
int test_make_pipe(int descriptors[2]);

// Opens a file only to name it: open(2) with O_PATH.
int test_open_path(const char *path);

// Gives the calling thread, and threads it starts, a user's access to files: setfsuid(2) and
// setfsgid(2). For root another user's access is without root's privileges. 0, or -1 on failure.
int test_set_file_user(unsigned user);

// A socket for datagrams at an address; one that begins with a NUL is in the abstract namespace. The
// descriptor, or -1 on failure.
int test_listen_for_datagrams(const void *address, int size);

// The next datagram's size, after waiting for it: -1 when none came in so many milliseconds.
int test_receive_datagram(int descriptor, void *buffer, int size, int milliseconds);

// Mounts. Each function returns 0 or an errno.

// Gives the calling thread, and threads it starts, mounts, a working directory and a root of its own:
// unshare(2) with CLONE_NEWNS. What is mounted there is seen nowhere else.
int test_separate_mounts(void);

// Mounts an empty filesystem of a type that needs no device.
int test_mount(const char *type, const char *directory);

int test_move_mount(const char *from, const char *to);

// Makes a mount, with its filesystem, read-only or writable.
int test_remount(const char *directory, int is_read_only);

// Unmounts also what is in use: umount2(2) with MNT_DETACH.
int test_unmount(const char *directory);

// chroot(2).
int test_change_root(const char *directory);

#endif
