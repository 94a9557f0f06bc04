import SystemCalls
import SystemPackage

/// Measures how much the free space of a filesystem grows.
struct SpaceMeter {
    private let path: FilePath
    private let directory: SharedDescriptor
    private let first: Int64
    private let repeats: Int

    /// Takes the first measurement.
    ///
    /// - Parameters:
    ///   - directory: a directory on the filesystem.
    ///   - repeats: how many times at most a measurement below the expectation is repeated.
    init(_ directory: FilePath, repeats: Int) throws(FileError) {
        path = directory
        self.repeats = repeats
        do throws(Errno) {
            self.directory = SharedDescriptor(
                try openFile(directory.withoutFollowing, flags: [.readOnly, .directory]))
            first = try Self.freeBytes(of: self.directory.descriptor)
        } catch {
            throw FileError.opening(error, directory)
        }
    }

    /// Returns how many bytes the free space grew by; negative when it shrank.
    ///
    /// Filesystems free blocks in the background, so a measurement below the expectation is
    /// repeated a tenth of a second later, until two repetitions showed no growth: then something
    /// else uses the space or keeps the blocks.
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
            throw FileError(error, of: path)
        }
    }

    /// Whether the free space does not shrink for a moment in which nothing is deleted.
    func isAlone() throws(FileError) -> Bool {
        do throws(Errno) {
            let before = try Self.freeBytes(of: directory.descriptor)
            sleep(for: .milliseconds(300), unless: { false })
            return try Self.freeBytes(of: directory.descriptor) >= before
        } catch {
            throw FileError(error, of: path)
        }
    }

    private static func freeBytes(of descriptor: FileDescriptor) throws(Errno) -> Int64 {
        try synchronizeFilesystem(of: descriptor)
        let status = try filesystemStatus(ofOpen: descriptor)
        return Int64(
            clamping: status.freeBlocks.multipliedSaturating(by: status.fragmentSize))
    }
}
