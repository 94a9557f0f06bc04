import ResourceValues
import SystemCalls
import SystemPackage

/// Opens items below a directory and never outside it, even while path components are renamed or
/// replaced.
///
/// Each name is looked up relative to the open parent directory, and symbolic links are not
/// followed. A path may therefore be of any length, and no path leads out of the directory.
final class BeneathRoot: Sendable {
    private let root: OpenDirectory
    private let path: FilePath

    /// Opens the directory, following symbolic links.
    ///
    /// - Throws: ``FileError`` from `openat(2)`.
    init(_ path: FilePath) throws(FileError) {
        self.path = path
        do throws(Errno) {
            root = try OpenDirectory(at: path)
        } catch {
            throw .opening(error, path)
        }
    }

    /// Opens an item.
    ///
    /// - Throws: ``FileError``: `noSuchFile`; `notADirectory`, also for a symbolic link as an
    ///   intermediate component; `unsupportedFileKind` for items that cannot store marks.
    func item(at place: DumpPath) throws(FileError) -> OpenedItem {
        let shown = shownPath(of: place)
        guard let last = place.names.last else {
            return try checked(OpenedItem(root, shownPath: shown.bytes, path: shown))
        }
        let parent: OpenDirectory
        do throws(Errno) {
            parent = try root.openDirectory(along: place.names.dropLast())
        } catch {
            throw .opening(error, shown)
        }
        return try checked(
            OpenedItem(
                parent.location(of: FilePath(bytes: last)), shownPath: shown.bytes, path: shown))
    }

    private func checked(_ item: OpenedItem) throws(FileError) -> OpenedItem {
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
