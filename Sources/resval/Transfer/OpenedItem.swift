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

extension OpenedItem {
    /// Returns the changes needed to give the item these marks.
    ///
    /// Marks that are unset in `marks`, or already stored with the same value, need no change.
    ///
    /// - Throws: ``FileError`` when the item's present marks cannot be read.
    func changes(toHave marks: Marks) throws(FileError) -> [MarkChange] {
        let present = try location.marks()
        return StoredKey.allCases.compactMap { key in
            guard let value = marks[key].value, present[key].value != value else { return nil }
            return MarkChange(key, to: value)
        }
    }

    /// Makes all changes or none, and reads the marks back.
    ///
    /// - Throws: ``FileError``; `changed` when the marks read back differ from those written.
    func apply(_ changes: [MarkChange]) throws(FileError) {
        try location.apply(changes)
        let stored = try location.marks()
        guard changes.allSatisfy({ stored[$0.key].value == $0.value }) else {
            throw FileError(
                code: .changed, message: "the marks read back are not those that were stored",
                advice: "restore again", path: location.pathForMessages)
        }
    }
}

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
