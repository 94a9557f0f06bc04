// Filesystem properties and the extents of files.

#ifndef RESOURCE_VALUES_FILESYSTEMS_H
#define RESOURCE_VALUES_FILESYSTEMS_H

#include "Result.h"

LINUX_CALL(fstatfs, (int descriptor, struct statfs *status), (descriptor, status))
LINUX_CALL(fstatvfs, (int descriptor, struct statvfs *status), (descriptor, status))

// Reads the filesystem's label: FS_IOC_GETFSLABEL, at most FSLABEL_MAX bytes with the NUL.
static inline long linux_get_filesystem_label(int descriptor, char *label) {
    return linux_result(ioctl(descriptor, FS_IOC_GETFSLABEL, label));
}

// struct fsuuid2 and FS_IOC_GETFSUUID of Linux 6.9, which Debian 12's headers lack.
struct linux_filesystem_uuid {
    uint8_t length;
    uint8_t bytes[16];
};

static inline long linux_get_filesystem_uuid(int descriptor, struct linux_filesystem_uuid *uuid) {
    return linux_result(ioctl(descriptor, _IOR(0x15, 0, struct linux_filesystem_uuid), uuid));
}

static inline long linux_get_btrfs_uuid(int descriptor, uint8_t *bytes) {
    struct btrfs_ioctl_fs_info_args information = {0};
    if (ioctl(descriptor, BTRFS_IOC_FS_INFO, &information) < 0) return -(long)errno;
    memcpy(bytes, information.fsid, sizeof information.fsid);
    return 0;
}

// Reads the id of the btrfs subvolume that contains an open file: BTRFS_IOC_INO_LOOKUP of the root
// directory, whose inode is 256, in the file's own tree (0), which needs no privilege.
static inline long linux_get_btrfs_subvolume(int descriptor, uint64_t *subvolume) {
    struct btrfs_ioctl_ino_lookup_args lookup = {.treeid = 0, .objectid = 256};
    if (ioctl(descriptor, BTRFS_IOC_INO_LOOKUP, &lookup) < 0) return -(long)errno;
    *subvolume = lookup.treeid;
    return 0;
}

// What XFS_IOC_FSGEOMETRY_V1 fills in; the kernel's xfs_fs.h is not among glibc's headers.
struct linux_xfs_geometry {
    uint32_t block_size, unused_1[7];
    uint64_t unused_2[4];
    uint8_t uuid[16];
    uint32_t unused_3[2];
    int32_t version;
    uint32_t flags, unused_4[3];
    uint32_t padding;
};

#define LINUX_XFS_GEOMETRY_REFLINK (1u << 20)

static inline long linux_get_xfs_geometry(int descriptor, struct linux_xfs_geometry *geometry) {
    return linux_result(ioctl(descriptor, _IOR('X', 100, struct linux_xfs_geometry), geometry));
}

// Reads the extents of a file from an offset on: FS_IOC_FIEMAP. Returns the number of extents.
#define LINUX_EXTENT_CAPACITY 32

static inline long linux_get_extents(int descriptor, uint64_t start,
                                     struct fiemap_extent *extents) {
    union {
        struct fiemap map;
        char bytes[sizeof(struct fiemap) + LINUX_EXTENT_CAPACITY * sizeof(struct fiemap_extent)];
    } request;
    memset(&request.map, 0, sizeof request.map);
    request.map.fm_start = start;
    request.map.fm_length = FIEMAP_MAX_OFFSET - start;
    request.map.fm_extent_count = LINUX_EXTENT_CAPACITY;
    if (ioctl(descriptor, FS_IOC_FIEMAP, &request.map) < 0) return -(long)errno;
    memcpy(extents, request.bytes + sizeof request.map,
           request.map.fm_mapped_extents * sizeof *extents);
    return request.map.fm_mapped_extents;
}

static inline void linux_sync(void) { sync(); }

LINUX_SYSCALL(syncfs, (int descriptor), descriptor)

// Reads the quota of a user (0) or a group (1) on the filesystem that contains an open file:
// quotactl_fd(2) of Linux 5.14, which glibc 2.36 does not wrap.
static inline long linux_get_quota(int descriptor, int type, unsigned int identifier,
                                   struct if_dqblk *quota) {
    const int quotactl_fd = 443;
    return linux_result(
        syscall(quotactl_fd, descriptor, QCMD(Q_GETQUOTA, type), identifier, quota));
}

#endif
