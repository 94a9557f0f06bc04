import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// The filesystems known to report correctly how much space deleting frees.
enum SpaceReporting {
    /// Whether files on the filesystem can share extents.
    ///
    /// - Throws: ``FileError`` `unsupportedFilesystem`, with the reason, for a filesystem on
    ///   which deleting is not known to free space on a disk of this machine.
    static func mayShareExtents(
        _ path: FilePath, _ status: FileStatus
    ) throws(FileError) -> Bool {
        guard let mount = Volume(holding: status)?.mount else {
            throw refusal("its filesystem is not known", path)
        }
        switch mount.filesystemType {
        case "ext4", "f2fs": return false
        case "xfs", "btrfs": return true
        default: break
        }
        let type = mount.filesystemType
        if type == "tmpfs" || type == "ramfs" {
            throw refusal("it is in memory (\(type)), where files take no disk space", path)
        }
        if type == "overlay" {
            throw refusal(
                "it is on overlay, where deleting what is in the lower layers frees nothing", path)
        }
        switch mount.category {
        case .network: throw refusal("it is on another machine (\(type))", path)
        case .fuse: throw refusal("a program serves its files (\(type))", path)
        case .local, .pseudo, .unknown:
            throw refusal("\(type) is not known to report what deleting frees", path)
        }
    }

    private static func refusal(_ reason: String, _ path: FilePath) -> FileError {
        FileError(
            code: .unsupportedFilesystem, message: "nothing is deleted here: \(reason)",
            advice: "known are ext4, xfs, btrfs and f2fs", path: path)
    }
}
