import ResourceValues
import SystemCalls
import SystemPackage

/// An item that is open (`O_PATH`), so that it stays the same one whatever becomes of its name.
///
/// A class, since lists of them are kept and each must be closed once.
package final class HeldItem: Sendable {
    /// The open item.
    package var descriptor: FileDescriptor { owned.descriptor }
    /// The item's status when it was opened.
    package let status: FileStatus
    /// The path as output shows it.
    package let shownPath: [UInt8]
    /// The absolute path.
    package let path: FilePath
    private let owned: OwnedDescriptor

    /// Opens an item.
    ///
    /// - Throws: ``FileError``, those of `openat(2)` and `statx(2)`.
    package init(
        _ location: borrowing some FileLocation & ~Copyable, shownPath: [UInt8], path: FilePath
    ) throws(FileError) {
        self.shownPath = shownPath
        self.path = path
        do throws(Errno) {
            owned = OwnedDescriptor(try openReference(to: location))
            status = try owned.descriptor.status()
        } catch {
            throw .opening(error, FilePath(bytes: shownPath))
        }
    }
}
