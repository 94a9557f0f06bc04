import ResourceValues
import SystemCalls
import SystemPackage

/// An item kept open, so that it stays the same item when it is renamed or replaced.
///
/// A class, because items are kept in arrays and each descriptor must be closed exactly once.
final class OpenedItem: Sendable {
    /// The open item; errors name ``shownPath``.
    var location: NamedDescriptor {
        owned.descriptor.named(FilePath(bytes: shownPath))
    }
    /// The item's status, read from the descriptor right after opening.
    let status: FileStatus
    /// The path shown in output and in error messages.
    let shownPath: [UInt8]
    /// The path recorded in journals, which must then be absolute.
    let path: FilePath
    private let owned: OwnedDescriptor

    /// Opens an item.
    ///
    /// - Throws: ``FileError`` from `openat(2)` and `statx(2)`.
    init(
        _ location: borrowing some FileLocation & ~Copyable, shownPath: [UInt8], path: FilePath
    ) throws(FileError) {
        self.shownPath = shownPath
        self.path = path
        do throws(Errno) {
            owned = try openAttributeReference(to: location)
            status = try owned.descriptor.status()
        } catch {
            throw .opening(error, FilePath(bytes: shownPath))
        }
    }
}
