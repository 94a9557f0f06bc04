import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Why a backup leaves an item out.
public enum LeftOutReason: PolicyReason {
    /// A mark or a location excludes it.
    case excluded(Exclusion)
    /// Another filesystem begins here, of a kind that is not backed up.
    case mount(type: String, category: Mount.Category)
    /// It is the repository the backup goes to.
    case repository
    /// Sockets mean nothing once their program has ended, and no backup tool stores them.
    case socket
    /// Its path is longer than the engine can open (`PATH_MAX`, 4096 bytes with the NUL).
    case tooLong
    /// Its holes are larger than an engine, which reads them as zeros, can read: see ``largestHoles``.
    case tooSparse
    /// It is a regular file above the size, in bytes, that was chosen as the limit.
    case larger(limit: Int64)
    /// Its protection class forbids to write it where anybody can read it.
    case protected(EffectiveProtection)
    /// It is the placeholder of an evicted file: it has no content, which a snapshot holds.
    case evicted(Placeholder)

    /// `marked`, `marker`, `location`, `inherited`, `mount`, `repository`, `socket`, `too-long`,
    /// `too-sparse`, `larger`, `protected` or `evicted`.
    public var name: String {
        switch self {
        case .excluded(let exclusion): exclusion.name
        case .mount: "mount"
        case .repository: "repository"
        case .socket: "socket"
        case .tooLong: "too-long"
        case .tooSparse: "too-sparse"
        case .larger: "larger"
        case .protected: "protected"
        case .evicted: "evicted"
        }
    }

    /// The kind of mark that leaves the item out; nil when no mark does.
    public var marker: Marker? {
        guard case .excluded(let exclusion) = self else { return nil }
        return exclusion.marker
    }

    /// The reason in words.
    public var sentence: String {
        switch self {
        case .excluded(let exclusion): exclusion.sentence
        case .mount(let type, let category): "\(type) is mounted here: \(category.meaning)"
        case .repository: "it is the repository of this backup"
        case .socket: "it is a socket"
        case .tooLong: "its path is longer than the backup tool can open"
        case .tooSparse:
            "its holes are larger than \(largestHoles >> 40) TiB, which takes days to read "
                + "(shorten it: truncate --size, or exclude it)"
        case .larger(let limit): "it is larger than \(limit) bytes"
        case .protected(let protection):
            "it must not be stored where anybody can read it: \(protection.sentence)"
        case .evicted(let placeholder):
            "it is evicted: snapshot \(placeholder.record.snapshot.prefix(8)) of repository "
                + "\(placeholder.record.repository.prefix(8)) holds its content"
        }
    }

    /// The directory above that decides; nil when the reason is the item's own.
    public var ancestor: FilePath? {
        switch self {
        case .excluded(let exclusion): exclusion.ancestor
        case .protected(let protection): protection.ancestor
        case .mount, .repository, .socket, .tooLong, .tooSparse, .larger, .evicted: nil
        }
    }

    /// The reason at the directory above that decides, or the reason itself.
    public var origin: LeftOutReason {
        switch self {
        case .excluded(let exclusion): .excluded(exclusion.origin)
        case .protected(let protection): .protected(protection.origin)
        case .mount, .repository, .socket, .tooLong, .tooSparse, .larger, .evicted: self
        }
    }

    /// The file that is stored all the same when a directory's contents are left out for this reason:
    /// the tag that says why.
    public var keptFile: TagFile? {
        guard case .excluded(.marker(.cachedir)) = self else { return nil }
        return .cacheDirectory
    }

    /// The placeholder that is left out; nil for any other reason.
    public var placeholder: Placeholder? {
        guard case .evicted(let placeholder) = self else { return nil }
        return placeholder
    }

    /// Whether leaving the item out makes the backup incomplete, rather than being what was asked for.
    public var isShortfall: Bool {
        switch self {
        case .tooLong, .tooSparse, .protected: true
        case .excluded, .mount, .repository, .socket, .larger, .evicted: false
        }
    }
}

/// What is left of an evicted file.
public struct Placeholder: Sendable, Hashable {
    /// Says where the content is.
    public let record: EvictionRecord
    /// The size of the content, in bytes.
    public let size: Int64
    /// When the content last changed.
    public let modified: FileTime

    init(_ record: EvictionRecord, _ status: FileStatus) {
        self.record = record
        size = status.size
        modified = status.contentModificationTime
    }
}

/// How much of a file may be holes, in bytes, for it to be backed up: 16 TiB, as large as a file can
/// be on ext4. Engines read, and hash, each byte of a hole as a zero, and a file can be 2^63 - 1 bytes.
package let largestHoles: Int64 = 1 << 44

extension FileStatus {
    /// Whether more of a regular file is holes than can be backed up.
    package var isTooSparse: Bool {
        kind == .regularFile && size.subtractingSaturating(allocatedSize) > largestHoles
    }
}
