import CLinux
import SystemCalls
import SystemPackage

/// Measures by how much the free space of a filesystem grew.
struct SpaceMeter {
    private let directory: OpenedFile
    private let first: Int64
    private let repeats: Int

    /// Measures the beginning.
    ///
    /// - Parameters:
    ///   - directory: one on the filesystem.
    ///   - repeats: how often less than expected is measured again.
    init(_ directory: FilePath, repeats: Int) throws(FileError) {
        self.repeats = repeats
        do throws(Errno) {
            self.directory = OpenedFile(
                try openFile(directory.withoutFollowing, flags: O_RDONLY | O_DIRECTORY))
            first = try Self.freeBytes(of: self.directory.descriptor)
        } catch {
            throw FileError.opening(error, directory)
        }
    }

    /// By how much it grew, in bytes; negative when it shrank.
    ///
    /// Filesystems free what was deleted in the background, so less than expected is measured again,
    /// a tenth of a second later.
    func grownBytes(expecting expected: Int64) throws(FileError) -> Int64 {
        do throws(Errno) {
            var grown: Int64 = 0
            for attempt in 0...repeats {
                if attempt > 0 { usleep(100_000) }
                grown = try Self.freeBytes(of: directory.descriptor) - first
                if grown >= expected { break }
            }
            return grown
        } catch {
            throw FileError.readingStatus(error, of: nil)
        }
    }

    private static func freeBytes(of descriptor: FileDescriptor) throws(Errno) -> Int64 {
        try synchronizeFilesystem(of: descriptor)
        let status = try filesystemStatus(ofOpen: descriptor)
        return Int64(
            clamping: status.freeBlocks.multipliedReportingOverflow(
                by: status.fragmentSize
            ).partialValue)
    }
}
