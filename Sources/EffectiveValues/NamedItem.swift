import SystemCalls
import SystemPackage

/// An item named by a person, a setting or a variable, and reached by a path that no other user
/// controls.
package struct NamedItem: Sendable, Hashable {
    package let path: FilePath
    /// The item's status when it was reached.
    package let status: FileStatus

    /// Resolves a path from `/`, one name at a time, and checks each step.
    ///
    /// A step is refused when its directory does not belong to root, or who owns `/`, and the item in
    /// it belongs to another user than the directory, even to root: the directory's owner chose which
    /// item has the name. The user's own choice is no danger: what root owns in a directory that only
    /// the user can write is reached. A symbolic link is followed if root made it in a directory that
    /// only root can write, or if the user made it in a directory that only the user or only root can
    /// write; a user's link must lead to an item of the same user. These are the rules of systemd's
    /// `CHASE_SAFE` ("unsafe path transition"), except for the user's own links and directories.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory; of any length.
    ///   - user: the uid of the user who acts on the item.
    /// - Throws: ``FileError``: `unsafePath`, naming the item at which the path is refused, and as
    ///   ``realPath(of:followsLast:)`` does.
    package init(at path: FilePath, user: UInt32 = effectiveUser()) throws(FileError) {
        var resolver = try PathResolver(path, checkedFor: user)
        try resolver.resolve()
        guard let status = try resolver.checkedStatus() else {
            throw .opening(.noSuchFileOrDirectory, path)
        }
        self.path = resolver.path
        self.status = status
    }
}

/// A step of a path that another user controls.
package enum UnsafeStep: Error, Sendable, Hashable {
    /// The item belongs to another user than its directory, and the directory does not belong to
    /// root.
    case otherOwner
    /// The item is a symbolic link that another user made, or could have made.
    case link
    /// A symbolic link of the user's own leads to an item of another user.
    case linkToOthers

    /// Checks one step down that does not follow a link.
    package static func check(
        from directory: FileStatus, to item: FileStatus
    ) throws(UnsafeStep) {
        if ![0, ownerOfRoot].contains(directory.owner), item.owner != directory.owner {
            throw .otherOwner
        }
    }

    static func check(
        link: FileStatus, in directory: FileStatus, for user: UInt32
    ) throws(UnsafeStep) {
        let isOwn = [0, user].contains(link.owner) && [0, user].contains(directory.owner)
        guard isOwn, !directory.isWritableByOthers else { throw .link }
    }

    package var sentence: String {
        switch self {
        case .otherOwner: "unsafe path transition: it belongs to another user than its directory"
        case .link: "unsafe path transition: it is a symbolic link that other users can make"
        case .linkToOthers:
            "unsafe path transition: a symbolic link leads to it, and it belongs to another user"
        }
    }

    /// The owner of `/`, who chooses what every path leads to. In a user namespace that does not map
    /// root, its directories seem to belong to the uid for all that is not mapped.
    private static let ownerOfRoot = (try? FilePath("/").status().owner) ?? 0

    func error(at path: FilePath) -> FileError {
        FileError(
            code: .unsafePath, message: sentence,
            advice:
                "name the directory it leads to, by a path that only its owner or root can change",
            path: path)
    }
}
