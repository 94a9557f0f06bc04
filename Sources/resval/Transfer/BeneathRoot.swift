import ResourceValues
import SystemCalls
import SystemPackage

/// Opens items below a directory and never outside it, even while path components are renamed or
/// replaced.
///
/// Each name is looked up relative to the open parent directory, and symbolic links are not
/// followed. A path may therefore be of any length, and no path leads out of the directory.
final class BeneathRoot: Sendable {
    private let root: OwnedDescriptor
    private let path: FilePath

    /// Opens the directory, following symbolic links.
    ///
    /// - Throws: ``FileError`` from `openat(2)`.
    init(_ path: FilePath) throws(FileError) {
        self.path = path
        do throws(Errno) {
            root = OwnedDescriptor(try openDirectoryReference(path))
        } catch {
            throw .opening(error, path)
        }
    }

    /// Opens an item.
    ///
    /// - Throws: ``FileError``: `noSuchFile`; `notADirectory`, also for a symbolic link as an
    ///   intermediate component; `unsupportedFileKind` for items that cannot store marks.
    func item(at place: DumpPath) throws(FileError) -> HeldItem {
        let shown = shownPath(of: place)
        guard let last = place.names.last else {
            return try checked(HeldItem(root.descriptor, shownPath: shown.bytes, path: shown))
        }
        var opened: OwnedDescriptor?
        for name in place.names.dropLast() {
            do throws(Errno) {
                let directory = opened?.descriptor ?? root.descriptor
                opened = OwnedDescriptor(
                    try openFile(
                        in: directory, FilePath(bytes: name),
                        flags: [.reference, .directory, .noFollow]))
            } catch {
                throw .opening(error, shown)
            }
        }
        let location = DirectoryEntryLocation(
            directory: opened?.descriptor ?? root.descriptor, name: FilePath(bytes: last))
        return try checked(HeldItem(location, shownPath: shown.bytes, path: shown))
    }

    private func checked(_ item: HeldItem) throws(FileError) -> HeldItem {
        guard item.status.kind.canStoreUserAttributes else {
            throw .storingAttribute(
                .notPermitted, nil, on: item.path, status: item.status, user: effectiveUser())
        }
        return item
    }

    private func shownPath(of place: DumpPath) -> FilePath {
        place.names.isEmpty
            ? path : FilePath(bytes: path.bytes + [UInt8(ascii: "/")] + place.bytes)
    }
}
