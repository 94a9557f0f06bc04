import SystemCalls
import SystemPackage

/// Measures by how much the free space of a filesystem grew.
struct SpaceMeter {
    private let directory: SharedDescriptor
    private let first: Int64
    private let repeats: Int

    /// Measures the beginning.
    ///
    /// - Parameters:
    ///   - directory: one on the filesystem.
    ///   - repeats: how often less than expected is measured again at most.
    init(_ directory: FilePath, repeats: Int) throws(FileError) {
        self.repeats = repeats
        do throws(Errno) {
            self.directory = SharedDescriptor(
                try openFile(directory.withoutFollowing, flags: [.readOnly, .directory]))
            first = try Self.freeBytes(of: self.directory.descriptor)
        } catch {
            throw FileError.opening(error, directory)
        }
    }

    /// By how much it grew, in bytes; negative when it shrank.
    ///
    /// Filesystems free what was deleted in the background, so less than expected is measured again, a
    /// tenth of a second later, and so on until it has not grown twice: then somebody else stores
    /// something, or holds what was deleted.
    func grownBytes(expecting expected: Int64) throws(FileError) -> Int64 {
        do throws(Errno) {
            var grown = try Self.freeBytes(of: directory.descriptor) - first
            var standstills = 0
            for _ in 0..<repeats where grown < expected && standstills < 2 {
                sleep(for: .milliseconds(100), unless: { false })
                let next = try Self.freeBytes(of: directory.descriptor) - first
                if next <= grown { standstills += 1 }
                grown = next
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
            clamping: status.freeBlocks.multipliedSaturating(by: status.fragmentSize))
    }
}
