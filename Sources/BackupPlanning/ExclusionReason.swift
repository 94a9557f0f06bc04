import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Why a backup excludes an item.
public enum ExclusionReason: PolicyReason {
    /// A mark or a location excludes it.
    case excluded(Exclusion)
    /// The item is the mount point of a filesystem of a kind that is not backed up.
    case mount(type: String, category: Mount.Category)
    /// A removable medium is mounted here, and is not a SOURCE.
    case removable(type: String)
    /// The item is an encrypted directory without its key.
    case locked
    case repository
    /// The item is the directory of the engine's cache, whose own entry is not stored either.
    case cache
    /// The item is the state directory of these programs, of which a backup stores only the record of its
    /// snapshot. A plan lists it in ``BackupPlan/ownState``, not among the exclusions.
    case ownState
    /// The item is a socket, which is useless without its process; no backup tool stores sockets.
    case socket
    /// The path is longer than the engine can open (`PATH_MAX`, 4096 bytes with the NUL).
    case tooLong
    /// The file has more holes than an engine, which reads them as zeros, can process: see
    /// ``largestHoles``.
    case tooSparse
    /// The item is a regular file larger than the chosen limit, in bytes.
    case larger(limit: Int64)
    /// A pattern in the settings excludes it.
    case pattern(ExclusionPattern)
    /// The protection class forbids storing the file as plaintext.
    case protected(EffectiveProtection)
    /// The item is the placeholder of an evicted file, whose content is in a snapshot.
    case evicted(Placeholder)

    /// The short name: `marked`, `marker`, `location`, `inherited`, `mount`, `removable`, `locked`,
    /// `repository`, `cache`, `own-state`, `socket`, `too-long`, `too-sparse`, `larger`, `pattern`,
    /// `protected` or `evicted`.
    public var name: String {
        switch self {
        case .excluded(let exclusion): exclusion.name
        case .mount: "mount"
        case .removable: "removable"
        case .locked: "locked"
        case .repository: "repository"
        case .cache: "cache"
        case .ownState: "own-state"
        case .socket: "socket"
        case .tooLong: "too-long"
        case .tooSparse: "too-sparse"
        case .larger: "larger"
        case .pattern: "pattern"
        case .protected: "protected"
        case .evicted: "evicted"
        }
    }

    /// The kind of mark that excludes the item; nil when no mark does.
    public var marker: Marker? {
        guard case .excluded(let exclusion) = self else { return nil }
        return exclusion.cause.marker
    }

    /// The reason in words.
    public var sentence: String {
        switch self {
        case .excluded(let exclusion): exclusion.sentence
        case .mount(let type, let category): "\(type) is mounted here: \(category.meaning)"
        case .removable(let type):
            "\(type) is mounted here, on a medium that can be taken away (to back it up, name it as a SOURCE)"
        case .locked: "it is encrypted, and its key is not there"
        case .repository: "it is the repository of this backup"
        case .cache: "it is restic's cache, which restic does not store"
        case .ownState: "it is the state of these programs"
        case .socket: "it is a socket"
        case .tooLong: "its path is longer than the backup tool can open"
        case .tooSparse:
            "its holes are larger than \(largestHoles >> 40) TiB, which takes days to read "
                + "(shorten it: truncate --size, or exclude it)"
        case .larger(let limit): "it is larger than \(sizeText(limit))"
        case .pattern(let pattern): "it is excluded by \(pattern.words)"
        case .protected(let protection):
            "it must not be stored in plaintext: \(protection.sentence)"
        case .evicted(let placeholder):
            "it is evicted: its content is in snapshot \(placeholder.record.snapshot.prefix(8)) of "
                + "repository \(placeholder.record.repository.prefix(8))"
        }
    }

    /// The ancestor directory that decides; nil when the reason is the item's own.
    public var ancestor: FilePath? {
        switch self {
        case .excluded(let exclusion): exclusion.ancestor
        case .protected(let protection): protection.ancestor
        default: nil
        }
    }

    /// The reason at the ancestor directory that decides, or the reason itself.
    public var origin: ExclusionReason {
        switch self {
        case .excluded(let exclusion): .excluded(Effective(exclusion.cause))
        case .protected(let protection): .protected(Effective(protection.cause))
        default: self
        }
    }

    /// The tag file that is stored although the other contents of its directory are excluded for
    /// this reason; nil for other reasons.
    public var keptFile: TagFile? {
        guard case .excluded(let exclusion) = self else { return nil }
        return exclusion.ownCause == .marker(.cachedir) ? .cacheDirectory : nil
    }

    /// The excluded placeholder; nil for any other reason.
    public var placeholder: Placeholder? {
        guard case .evicted(let placeholder) = self else { return nil }
        return placeholder
    }

    /// Whether not even the entry of such a directory is stored: an engine may be unable to open it, leave
    /// its own cache out, or wait for the server of a mount that does not answer.
    var excludesEntry: Bool {
        switch self {
        case .tooLong, .cache, .mount(_, .network), .mount(_, .fuse): true
        default: false
        }
    }

    /// Whether the exclusion makes the backup incomplete, rather than being what was requested. That of a
    /// locked directory does by its notice.
    public var isShortfall: Bool {
        switch self {
        case .tooLong, .tooSparse, .protected: true
        default: false
        }
    }
}

/// The placeholder of an evicted file.
public struct Placeholder: Sendable, Hashable {
    /// The record that says where the content is.
    public let record: EvictionRecord
    /// The size of the content, in bytes.
    public let size: Int64
    /// The modification time of the content.
    public let modified: FileTime
    /// The user ID of the owner, whose word the record is.
    public let owner: UInt32

    init(_ record: EvictionRecord, _ status: FileStatus) {
        self.record = record
        size = status.size
        modified = status.contentModificationTime
        owner = status.owner
    }
}

/// The most bytes of holes that a file may have to be backed up: 16 TiB, the largest file on ext4.
/// Engines read and hash each byte of a hole as a zero, and a file can have 2^63 - 1 bytes.
package let largestHoles: Int64 = 1 << 44

extension FileStatus {
    /// Whether this is a regular file with more than ``largestHoles`` bytes of holes.
    package var isTooSparse: Bool {
        kind == .regularFile && size.subtractingSaturating(allocatedSize) > largestHoles
    }
}
