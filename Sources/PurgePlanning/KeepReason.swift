import StoragePolicy
import SystemPackage

/// Why an item is not deleted.
public enum KeepReason: Error, Sendable, Hashable {
    /// A mark on it, or on something in its unit, says to keep it, or cannot be understood.
    case protected(Purgeability)
    /// It is, or holds, a directory that can never be purged.
    case protectedRoot
    /// Another filesystem begins there.
    case mountPoint
    /// It, or something in its unit, belongs to somebody else.
    case foreignOwner
    /// It is, or holds, a socket, a FIFO or a device.
    case specialFile
    /// It, or something in its unit, is immutable or can only grow.
    case immutable
    /// Used, changed or made too short a time ago.
    case tooYoung
    /// Others than the owner can write it, so anybody could have marked it.
    case untrustedMark
    /// It looks like a cache and is none; the reason in words.
    case notACache(String)
    /// Its name is one that other programs rely on; the reason in words.
    case reservedName(String)
    /// It goes only with the file whose journal it is.
    case companion
    /// It, or something in its unit, could not be looked at.
    case unreadable(Errno)
    /// Deleting it would free nothing: another hard link stays, or its extents are shared.
    case freesNothing

    /// The reason's stable name, for JSON and scripts.
    public var name: String {
        switch self {
        case .protected: "protected"
        case .protectedRoot: "protected-root"
        case .mountPoint: "mount-point"
        case .foreignOwner: "foreign-owner"
        case .specialFile: "special-file"
        case .immutable: "immutable"
        case .tooYoung: "too-young"
        case .untrustedMark: "untrusted-mark"
        case .notACache: "not-a-cache"
        case .reservedName: "reserved-name"
        case .companion: "companion"
        case .unreadable: "unreadable"
        case .freesNothing: "frees-nothing"
        }
    }

    /// The reason in words, without any path.
    public var sentence: String {
        switch self {
        case .protected(let purgeability): purgeability.sentence
        case .protectedRoot: "it is or holds a directory that is never purged"
        case .mountPoint: "another filesystem begins there"
        case .foreignOwner: "it belongs, or something in it belongs, to somebody else"
        case .specialFile: "it is or holds a socket, a FIFO or a device"
        case .immutable: "it is, or something in it is, immutable or append-only"
        case .tooYoung: "it was used, changed or made too short a time ago"
        case .untrustedMark: "others than its owner can write it, so its mark is not trusted"
        case .notACache(let why): "it looks like a cache and is none: \(why)"
        case .reservedName(let why): "other programs rely on it: \(why)"
        case .companion: "it goes only with the file whose journal it is"
        case .unreadable(let errno): "it, or something in it, could not be looked at: \(errno)"
        case .freesNothing: "deleting it would free nothing"
        }
    }
}
