import SystemPackage
import Testing

/// A filesystem that tests make, each with what it has of its own.
package enum FilesystemKind: String, Sendable, Hashable, CaseIterable {
    /// ext4 with 256-byte inodes: some attributes fit beside the inode.
    case ext4
    /// ext4 with 128-byte inodes: every attribute takes a block.
    case ext4SmallInodes
    /// ext4 with 1 KiB blocks: a file's attributes share one such block.
    case ext4SmallBlocks
    /// xfs: values up to 64 KiB.
    case xfs
    /// btrfs with quota groups.
    case btrfs
    /// tmpfs, in memory.
    case tmpfs
    /// overlayfs with its layers on ext4.
    case overlayfs

    /// The kernel's name of the filesystem.
    var kernelName: String {
        switch self {
        case .ext4, .ext4SmallInodes, .ext4SmallBlocks: "ext4"
        case .overlayfs: "overlay"
        case .xfs, .btrfs, .tmpfs: rawValue
        }
    }

    /// The program that makes one in an image, with its options; nil where none is needed.
    var maker: [String]? {
        switch self {
        case .ext4, .overlayfs: ["mkfs.ext4", "-q", "-F", "-I", "256"]
        case .ext4SmallInodes: ["mkfs.ext4", "-q", "-F", "-I", "128"]
        case .ext4SmallBlocks: ["mkfs.ext4", "-q", "-F", "-I", "256", "-b", "1024"]
        case .xfs: ["mkfs.xfs", "-q", "-f"]
        case .btrfs: ["mkfs.btrfs", "-q", "-f"]
        case .tmpfs: nil
        }
    }

    /// The smallest image, in bytes, that the maker is content with; nothing of it is allocated
    /// before it is used.
    var imageSize: Int64 {
        switch self {
        case .xfs: 320 << 20
        case .btrfs: 128 << 20
        default: 32 << 20
        }
    }
}

extension FilesystemKind: CustomTestStringConvertible {
    package var testDescription: String {
        switch self {
        case .ext4SmallInodes: "ext4 with 128-byte inodes"
        case .ext4SmallBlocks: "ext4 with 1 KiB blocks"
        default: rawValue
        }
    }
}
