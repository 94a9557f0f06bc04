import ResourceValues
import SystemCalls
import SystemPackage

/// The extended attributes of a file, as far as this process may read them.
struct StoredAttributes {
    /// The attributes, sorted by name.
    private(set) var attributes: [ExtendedAttribute] = []
    /// Why some attributes are missing; nil when none is.
    private(set) var failure: FileError?

    init(of location: borrowing some FileLocation & ~Copyable) {
        do throws(FileError) {
            for name in try location.extendedAttributeNames() { add(name, of: location) }
        } catch {
            if error.code != .unsupportedFilesystem { failure = error }
        }
        attributes.sort { $0.name.lexicographicallyPrecedes($1.name) }
    }

    private mutating func add(
        _ name: ExtendedAttributeName, of location: borrowing some FileLocation & ~Copyable
    ) {
        do throws(FileError) {
            // Removed since the names were read.
            guard let value = try location.extendedAttribute(named: name) else { return }
            attributes.append(ExtendedAttribute(name: name.bytes, value: value))
        } catch {
            // Attributes of other namespaces may be unreadable for this user.
            guard name.bytes.starts(with: "user.".utf8) else { return }
            failure = error
        }
    }
}

/// Returns the regions of an open regular file that contain data: `lseek(2)` with `SEEK_DATA` and
/// `SEEK_HOLE`.
///
/// - Returns: nil when the whole file contains data, or when the filesystem does not report holes.
///   A file that consists of one hole has an empty region at its start.
func dataRegions(
    of descriptor: FileDescriptor, _ status: FileStatus
) throws(Errno) -> [Range<Int64>]? {
    guard status.size > 0, status.allocatedSize < status.size else { return nil }
    var regions: [Range<Int64>] = []
    var offset: Int64 = 0
    do throws(Errno) {
        while offset < status.size,
            let start = try seekFile(descriptor, toNext: .data, from: offset), start < status.size
        {
            let hole = try seekFile(descriptor, toNext: .hole, from: start) ?? status.size
            offset = min(hole, status.size)
            guard offset > start else { break }
            regions.append(start..<offset)
        }
    } catch .invalidArgument {
        return nil
    }
    if regions == [0..<status.size] { return nil }
    return regions.isEmpty ? [0..<0] : regions
}

/// The names of users and groups by uid and gid, from `/etc/passwd` and `/etc/group`.
struct OwnerNames {
    private let users: [UInt32: String]
    private let groups: [UInt32: String]

    /// Reads both files. Where they cannot be read, an archive contains only uids and gids.
    init() {
        users = Self.names(in: "/etc/passwd")
        groups = Self.names(in: "/etc/group")
    }

    /// Returns a user's name; empty when it is unknown.
    func user(_ number: UInt32) -> String { users[number] ?? "" }

    /// Returns a group's name; empty when it is unknown.
    func group(_ number: UInt32) -> String { groups[number] ?? "" }

    /// Returns the names in a file, by id. Both files have the name in the first field and the id
    /// in the third.
    private static func names(in path: FilePath) -> [UInt32: String] {
        // Without names, the ids suffice.
        guard let text = try? contentsOfFile(path) else { return [:] }
        var names: [UInt32: String] = [:]
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard fields.count > 3, let number = UInt32(String(decoding: fields[2], as: UTF8.self)),
                let name = String(validating: fields[0], as: UTF8.self), names[number] == nil
            else { continue }
            names[number] = name
        }
        return names
    }
}

extension ManifestItem {
    /// Creates an item from its state on disk, without the facts about its archive entry.
    init(_ path: [UInt8], _ status: FileStatus) {
        self.path = path
        kind = status.kind
        permissions = status.permissions
        owner = status.owner
        group = status.group
        modified = status.contentModificationTime
        size = status.kind == .regularFile ? status.size : 0
    }
}

extension ArchiveMetadata {
    /// Creates the header of an item's archive entry, without what only the disk knows.
    init(_ item: ManifestItem) {
        self.init(
            path: item.archivePath, kind: item.kind, permissions: item.permissions,
            owner: item.owner, group: item.group, modified: item.modified)
        size = item.size
        linkTarget = item.linkTarget ?? []
        hardLink = item.hardLink.map { archived($0) }
    }
}

extension Shortfall.Cause {
    /// Creates the cause for the errno of an item that the plan stores.
    init(ofPlanned error: Errno) {
        switch error {
        case .noSuchFileOrDirectory: self = .vanished
        // Something else has the name: a symbolic link, a FIFO, a socket or a file.
        case .tooManySymbolicLinkLevels, .noSuchAddressOrDevice, .notDirectory: self = .changed
        default: self = .unreadable(error)
        }
    }
}
