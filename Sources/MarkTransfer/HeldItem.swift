import ResourceValues
import SystemCalls
import SystemPackage

/// An item that is open (`O_PATH`), so that it stays the same one whatever becomes of its name.
///
/// A class, since lists of them are kept and each must be closed once.
package final class HeldItem: Sendable {
    /// The open item.
    package let descriptor: FileDescriptor
    /// The item's status when it was opened.
    package let status: FileStatus
    /// The path as output shows it.
    package let shownPath: [UInt8]
    /// The absolute path.
    package let path: FilePath

    /// Opens an item.
    ///
    /// - Throws: ``FileError``, those of `openat(2)` and `statx(2)`.
    package init(
        _ location: borrowing some FileLocation & ~Copyable, shownPath: [UInt8], path: FilePath
    ) throws(FileError) {
        self.shownPath = shownPath
        self.path = path
        do throws(Errno) {
            let opened = try openReference(to: location)
            do throws(Errno) {
                status = try opened.status()
            } catch {
                // Nothing was written through it, so closing cannot lose data.
                closeQuietly(opened)
                throw error
            }
            descriptor = opened
        } catch {
            throw .opening(error, FilePath(bytes: shownPath))
        }
    }

    deinit {
        // Attributes are not written back at closing.
        closeQuietly(descriptor)
    }
}
