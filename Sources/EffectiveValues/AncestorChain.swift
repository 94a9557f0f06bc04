import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// One item on the path from `/` to a file, as found on disk.
package struct ChainItem: Sendable, Hashable {
    /// The item's facts, as the policy needs them.
    package let item: PolicyItem
    /// The item's status, which includes its identity.
    package let status: FileStatus
}

/// Returns every item from `/` down to a path, with its status and marks.
///
/// Opens each item by descriptor, relative to its parent, and follows no symbolic links. The path
/// may therefore have any length, and the lookup cannot be redirected.
///
/// - Parameters:
///   - path: a real path, as returned by ``realPath(of:followsLast:)``.
///   - reader: reads the marks of each item.
/// - Returns: the items in order, `/` first.
/// - Throws: ``FileError``, naming the item that failed: `noSuchFile`, `permissionDenied`,
///   `notADirectory`, and `changed` when an item was replaced meanwhile.
package func ancestorChain(
    of path: FilePath, reader: MarkReader = MarkReader()
) throws(FileError) -> [ChainItem] {
    var reached: FilePath = "/"
    var directory: OwnedDescriptor
    do throws(Errno) {
        directory = try OwnedDescriptor(openDirectoryReference(reached))
    } catch {
        throw .opening(error, reached)
    }
    let root = try directory.descriptor.named(reached).fileStatus()
    let rootMarks = try reader.marks(of: reached, kind: root.kind, status: root)
    var chain = [ChainItem(root, rootMarks, path: reached, above: nil)]
    var names: [ArraySlice<UInt8>] = []
    for name in path.names {
        names.append(name)
        reached = FilePath(names: names)
        let location = DirectoryEntryLocation(
            directory: directory.descriptor, name: FilePath(bytes: name),
            pathForMessages: reached)
        let next: OwnedDescriptor
        do throws(Errno) {
            next = try OwnedDescriptor(openReference(location.name, in: directory.descriptor))
        } catch {
            throw .opening(error, reached)
        }
        let found = try next.descriptor.named(reached).fileStatus()
        let marks = try marks(at: location, of: found, reader)
        chain.append(ChainItem(found, marks, path: reached, above: chain.last))
        directory = next
    }
    return chain
}

/// Reads marks by name, and verifies that the name still refers to the open file.
private func marks(
    at location: DirectoryEntryLocation, of open: FileStatus, _ reader: MarkReader
) throws(FileError) -> ItemMarks {
    guard open.kind.canStoreUserAttributes else { return .none }
    let marks = try reader.marks(of: location, kind: open.kind, status: open)
    guard try location.fileStatus().identity == open.identity else {
        throw FileError(
            code: .changed, message: "was replaced by another file meanwhile",
            advice: "run again", path: location.pathForMessages)
    }
    return marks
}

extension ChainItem {
    fileprivate init(
        _ status: FileStatus, _ marks: ItemMarks, path: FilePath, above: ChainItem?
    ) {
        let isOnOtherDevice = above.map { $0.status.identity.device != status.identity.device }
        item = PolicyItem(
            path: path, marks: marks.native, kind: status.kind, foreignMarks: marks.foreign,
            linkCount: status.linkCount,
            isMountRoot: status.isMountRoot ?? isOnOtherDevice ?? true,
            isOwnedBySomebodyElse: status.owner != effectiveUser(),
            isWritableByOthers: status.isWritableByOthers)
        self.status = status
    }
}
