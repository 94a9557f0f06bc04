import ResourceValues
import SystemCalls
import SystemPackage

/// Sets the owners, extended attributes, permissions and times of restored items, in this order:
/// changing the owner clears set-ID bits and capabilities, and an ordinary user cannot store
/// attributes on read-only items.
final class MetadataRestorer {
    private(set) var failures: [RestoreFailure] = []
    private let isRoot = effectiveUser() == 0

    /// - Parameter file: may be open with `O_PATH`; another item may have the name meanwhile.
    func apply(_ item: ItemMetadata, to file: FileDescriptor) {
        let status = item.status
        attempt(item.path) { () throws(Errno) in
            if isRoot {
                try setOwner(status.owner, group: status.group, of: file)
            } else if try file.status().group == effectiveGroup() {
                // An ordinary user may choose among the groups that they are in.
                try? setOwner(effectiveUser(), group: status.group, of: file)
            }
        }
        store(item, on: file)
        attempt(item.path) { () throws(Errno) in
            if status.kind != .symbolicLink {
                let made = try file.status()
                let isSame = made.owner == status.owner && made.group == status.group
                let permissions = status.permissions & (isSame ? .max : ~setIDs)
                try setPermissions(permissions, of: file)
                if permissions != status.permissions {
                    failures.append(.withoutSetID(item.path))
                }
            }
            try file.setTimes(access: nil, modification: status.contentModificationTime)
        }
        if let failure = timeFailure(item.path, status.contentModificationTime, on: file) {
            failures.append(failure)
        }
    }

    private func store(_ item: ItemMetadata, on file: FileDescriptor) {
        for (name, value) in item.attributes where isRoot || isForEverybody(name.bytes) {
            do throws(FileError) {
                try file.setExtendedAttribute(named: name, to: value)
            } catch {
                failures.append(.attributes(item.path, error.message))
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
            failures.append(.different(path, "\(error)"))
        }
    }
}

let setGroupID: UInt16 = 0o2000
/// Set-user-ID and set-group-ID.
let setIDs: UInt16 = 0o6000

/// Whether a time is one that restic and all filesystems can store: from 1970 to 2038.
func isStorable(_ time: FileTime) -> Bool { (0...Int64(Int32.max)).contains(time.seconds) }

/// Returns the failure of an item whose time the filesystem replaced by the nearest one it can store, which
/// `utimensat(2)` does not report as an error; nil for any other.
func timeFailure(_ path: [UInt8], _ time: FileTime, on file: FileDescriptor) -> RestoreFailure? {
    guard !isStorable(time), (try? file.status().contentModificationTime.seconds) != time.seconds
    else { return nil }
    return .different(path, "the filesystem cannot keep its time, \(time.rfc3339)")
}

struct ItemMetadata: Sendable, Hashable {
    let path: [UInt8]
    let status: FileStatus
    /// The extended attributes that this process may read.
    let attributes: [ExtendedAttributeName: [UInt8]]

    /// Reads the extended attributes of an item. Those that cannot be read are skipped: restic could
    /// not restore them either, and has said so.
    init(
        _ path: [UInt8], _ status: FileStatus, of location: borrowing some FileLocation & ~Copyable
    ) {
        self.path = path
        self.status = status
        var attributes: [ExtendedAttributeName: [UInt8]] = [:]
        for name in (try? location.extendedAttributeNames()) ?? [] {
            attributes[name] = try? location.extendedAttribute(named: name)
        }
        self.attributes = attributes
    }
}
