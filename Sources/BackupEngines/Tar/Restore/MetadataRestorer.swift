import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// Sets the owners, extended attributes, permissions and times of restored items, in this order:
/// changing the owner clears set-ID bits and capabilities, and an ordinary user cannot store
/// attributes on read-only items.
final class MetadataRestorer {
    /// The items with metadata that could not be set.
    private(set) var failures: [RestoreFailure] = []
    private let isRoot = effectiveUser() == 0

    /// Sets all metadata of a regular file or a directory that is open.
    func apply(
        _ item: ManifestItem, _ attributes: [ExtendedAttribute], toFile file: FileDescriptor,
        _ path: [UInt8]
    ) {
        attempt(path) { () throws(Errno) in
            if isRoot { try setOwner(item.owner, group: item.group, of: file) }
        }
        store(attributes, on: file, path)
        attempt(path) { () throws(Errno) in
            try changeMode(item.permissions, of: file)
            try setModificationTime(item.modified, of: file)
        }
        checkTime(item.modified, of: file, path)
    }

    /// Sets all metadata of an item that is neither a regular file nor a directory.
    ///
    /// - Parameter handle: open with `O_PATH`; another item may have the name meanwhile.
    func apply(
        _ item: ManifestItem, _ attributes: [ExtendedAttribute], toHandle handle: FileDescriptor,
        _ path: [UInt8]
    ) {
        attempt(path) { () throws(Errno) in
            if isRoot { try setOwner(item.owner, group: item.group, of: handle) }
        }
        store(attributes, on: handle, path)
        attempt(path) { () throws(Errno) in
            if item.kind != .symbolicLink { try setPermissions(item.permissions, of: handle) }
            try handle.setTimes(access: nil, modification: item.modified)
        }
        checkTime(item.modified, of: handle, path)
    }

    /// Reports a time that the filesystem replaced by the nearest one it can store, which
    /// `utimensat(2)` does not report as an error. All filesystems can store times from 1970 to
    /// 2038.
    private func checkTime(
        _ time: FileTime, of file: FileDescriptor, _ path: [UInt8]
    ) {
        guard !(0...Int64(Int32.max)).contains(time.seconds) else { return }
        do throws(Errno) {
            let kept = try file.status().contentModificationTime
            guard kept.seconds != time.seconds else { return }
            failures.append(
                RestoreFailure(
                    path: path,
                    cause: .different("the filesystem cannot keep its time, \(time.rfc3339)")))
        } catch {
            failures.append(RestoreFailure(path: path, cause: .different("\(error)")))
        }
    }

    /// Sets all metadata of a directory in which nothing more is restored.
    func finish(_ restored: RestoredDirectory) {
        guard let (item, attributes) = restored.pending else { return }
        apply(item, attributes, toFile: restored.directory.descriptor, item.path)
    }

    private func store(
        _ attributes: [ExtendedAttribute], on file: FileDescriptor, _ path: [UInt8]
    ) {
        for attribute in attributes where isRoot || isForEverybody(attribute.name) {
            do throws(FileError) {
                try file.setExtendedAttribute(
                    named: ExtendedAttributeName(bytes: attribute.name), to: attribute.value)
            } catch {
                failures.append(
                    RestoreFailure(path: path, cause: .init(error, storingAttributesOn: file)))
            }
        }
    }

    /// Whether an ordinary user can store an attribute: other namespaces are reserved for root.
    private func isForEverybody(_ name: [UInt8]) -> Bool {
        name.starts(with: "user.".utf8) || name.starts(with: "system.posix_acl".utf8)
    }

    private func attempt(_ path: [UInt8], _ body: () throws(Errno) -> Void) {
        do throws(Errno) {
            try body()
        } catch {
            failures.append(RestoreFailure(path: path, cause: .different("\(error)")))
        }
    }
}
