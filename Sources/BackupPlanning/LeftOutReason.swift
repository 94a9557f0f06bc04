import EffectiveValues
import StoragePolicy
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

    /// `marked`, `marker`, `location`, `inherited`, `mount`, `repository`, `socket` or `too-long`.
    public var name: String {
        switch self {
        case .excluded(let exclusion): exclusion.name
        case .mount: "mount"
        case .repository: "repository"
        case .socket: "socket"
        case .tooLong: "too-long"
        }
    }

    /// The reason in words.
    public var sentence: String {
        switch self {
        case .excluded(let exclusion): exclusion.sentence
        case .mount(let type, let category): "\(type) is mounted here: \(category.meaning)"
        case .repository: "it is the repository of this backup"
        case .socket: "it is a socket"
        case .tooLong: "its path is longer than the backup tool can open"
        }
    }

    /// The excluded directory above; nil when the reason is the item's own.
    public var ancestor: FilePath? {
        guard case .excluded(let exclusion) = self else { return nil }
        return exclusion.ancestor
    }

    /// The excluded directory's own reason, or the reason itself.
    public var origin: LeftOutReason {
        guard case .excluded(let exclusion) = self else { return self }
        return .excluded(exclusion.origin)
    }

    /// The file that is stored all the same when a directory's contents are left out for this reason:
    /// the tag that says why.
    public var keptFile: TagFile? {
        guard case .excluded(.marker(.cachedir)) = self else { return nil }
        return .cacheDirectory
    }

    /// Whether leaving the item out makes the backup incomplete, rather than being what was asked for.
    public var isShortfall: Bool { self == .tooLong }
}
