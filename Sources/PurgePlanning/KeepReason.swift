import StoragePolicy
import SystemPackage

/// Why an item is not deleted.
public enum KeepReason: Error, Sendable, Hashable {
    /// A mark on it, or on something in its unit, says to keep it, or cannot be understood.
    case protected(Purgeability)
    /// It, or something in its unit, has a protection class other than `none`, and no mark says that it
    /// may go.
    case protectionClass
    /// A symbolic link is deleted only with the directory it is in: it frees next to nothing, and
    /// where it leads may matter.
    case symbolicLink
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
    /// Used, changed or made after now, as the clock tells it.
    case fromTheFuture
    /// Old enough by a clock of which nobody knows whether it is right, and space is not short.
    case untrustedClock
    /// A file of tmpfiles.d says that it, or something in its unit, is never cleaned.
    case listedForKeeping
    /// It is part of a marked directory, which goes whole or not at all.
    case partOfUnit
    /// Others than the owner can write it, so anybody could have marked it.
    case untrustedMark
    /// It looks like a cache but isn't; the reason in words.
    case notACache(String)
    /// Its name is one that other programs rely on; the reason in words.
    case reservedName(String)
    /// It is a database's journal, or a database with one: they go together, which is so only in a
    /// directory that goes whole.
    case companion
    /// It, or something in its unit, could not be looked at.
    case unreadable(Errno)
    /// Deleting it would free nothing: another hard link stays, or its extents are shared.
    case freesNothing
    /// It is no longer what the plan saw.
    case changed
    /// Somebody has it, or a file in it, open, mapped or running.
    case inUse
    /// Somebody has locked it, or a directory on the way to it or in it.
    case locked
    /// A process works in it, or has a directory of it open.
    case processInside
    /// On the way to it another user decides where it leads.
    case unsafePath
    /// It, or something in it, is mounted a second time, or it is part of a mounted overlay.
    case mountedElsewhere
    /// It does not lie in the directories that are looked at.
    case outsideRoots
    /// It is, or holds, something that cannot be tested for being in use.
    case untestable(Errno)

    /// The reason's stable name, for JSON and scripts.
    public var name: String {
        switch self {
        case .protected: "protected"
        case .protectionClass: "protection-class"
        case .symbolicLink: "symbolic-link"
        case .protectedRoot: "protected-root"
        case .mountPoint: "mount-point"
        case .foreignOwner: "foreign-owner"
        case .specialFile: "special-file"
        case .immutable: "immutable"
        case .tooYoung: "too-young"
        case .fromTheFuture: "from-the-future"
        case .untrustedClock: "untrusted-clock"
        case .listedForKeeping: "listed-for-keeping"
        case .partOfUnit: "part-of-unit"
        case .untrustedMark: "untrusted-mark"
        case .notACache: "not-a-cache"
        case .reservedName: "reserved-name"
        case .companion: "companion"
        case .unreadable: "unreadable"
        case .freesNothing: "frees-nothing"
        case .changed: "changed"
        case .inUse: "in-use"
        case .locked: "locked"
        case .processInside: "process-inside"
        case .unsafePath: "unsafe-path"
        case .mountedElsewhere: "mounted-elsewhere"
        case .outsideRoots: "outside-roots"
        case .untestable: "untestable"
        }
    }

    /// The reason in words, without any path.
    public var sentence: String {
        switch self {
        case .protected(let purgeability): purgeability.sentence
        case .protectionClass: "it, or something in it, has a protection class"
        case .symbolicLink: "a symbolic link goes only with the directory it is in"
        case .protectedRoot: "it is or holds a directory that is never purged"
        case .mountPoint: "another filesystem begins there"
        case .foreignOwner: "it belongs, or something in it belongs, to somebody else"
        case .specialFile: "it is or holds a socket, a FIFO or a device"
        case .immutable: "it is, or something in it is, immutable or append-only"
        case .tooYoung: "it was used, changed or made too short a time ago"
        case .fromTheFuture: "it was used, changed or made at a time that has not come yet"
        case .untrustedClock: "it is old only by a clock that may be wrong, and space is not short"
        case .listedForKeeping: "tmpfiles.d says that it, or something in it, is never cleaned"
        case .partOfUnit: "it is part of a marked directory, which goes whole or not at all"
        case .untrustedMark: "others than its owner can write it, so its mark is not trusted"
        case .notACache(let why): "it looks like a cache but isn't: \(why)"
        case .reservedName(let why): "other programs rely on it: \(why)"
        case .companion: "a database and its journals go together or not at all"
        case .unreadable(let errno): "it, or something in it, could not be looked at: \(errno)"
        case .freesNothing: "deleting it would free nothing"
        case .changed: "it is no longer what the plan saw"
        case .inUse: "somebody has it, or a file in it, open, mapped or running"
        case .locked: "somebody has locked it, or a directory above it or in it"
        case .processInside: "a process works in it, or has a directory of it open"
        case .unsafePath: "unsafe path transition: on the way another user decides where it leads"
        case .mountedElsewhere: "it, or something in it, is in use as a mount elsewhere"
        case .outsideRoots: "it does not lie in the directories that are looked at"
        case .untestable(let errno): "nobody can tell whether it is in use: \(errno)"
        }
    }
}
