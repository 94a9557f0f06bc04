import StoragePolicy
import SystemCalls
import SystemPackage

/// Why an item is not deleted.
public enum KeepReason: Error, Sendable, Hashable {
    /// A mark on the item, or on something in its unit, pins it or is malformed.
    case protected(Purgeability)
    /// The item, or something in its unit, has a protection class other than `none`, and no mark
    /// allows deletion.
    case protectionClass
    /// A symbolic link is deleted only with the directory it is in: by itself it frees next to
    /// nothing, and its target may matter.
    case symbolicLink
    /// The item is, or contains, a protected directory.
    case protectedRoot
    /// The item is a mount point or lies on another filesystem.
    case mountPoint
    /// The item, or something in its unit, belongs to another user.
    case foreignOwner
    /// The item, or something in its unit, belongs to a user whom neither `/etc/passwd` nor a name
    /// service knows.
    case unknownOwner
    /// The item is, or contains, a socket, a FIFO or a device.
    case specialFile
    /// The item, or something in its unit, is immutable or append-only.
    case immutable
    /// The item, or something in its unit, was used or changed too recently: within so many seconds.
    case tooYoung(minimumAge: Int64)
    /// The item, or something in its unit, has a time in the future.
    case fromTheFuture
    /// The item is old enough only by a clock that is not known to be right, and space is not
    /// short.
    case untrustedClock
    /// tmpfiles.d excludes the item, or something in its unit, from cleaning.
    case listedForKeeping
    /// The item lies inside a unit, such as a marked directory or a program's directory of caches,
    /// which is deleted whole or not at all.
    case partOfUnit
    /// The item's mark is not trusted: users other than the owner can write the item or a directory
    /// above it, or it lies in a directory that other programs fill.
    case untrustedMark
    /// The item looks like a cache but isn't; the reason in words.
    case notACache(String)
    /// The item has a name that other programs rely on; the reason in words.
    case reservedName(String)
    /// The item is a sidecar of a database, or a database with one: they are deleted only together,
    /// as part of a directory that is deleted whole.
    case companion
    /// The item, or something in its unit, could not be inspected.
    case unreadable(Errno)
    /// The item frees little, as do the other small items of its directory together.
    case tooSmall
    /// Deleting the item would free nothing: another hard link remains, or its extents are shared.
    case freesNothing
    /// The item was used or changed after planning began.
    case changed
    /// The item, or a file in it, is in use: open, mapped or executed.
    case inUse
    /// The item, a directory above it, or something in it is locked.
    case locked
    /// A process has its working directory, its root or an open directory in the item.
    case processInside
    /// A program that was running when the item was made still runs, and may use it.
    case programRunning
    /// A program waits for changes in the item by inotify(7).
    case watched
    /// The path to the item leads through a step that another user controls.
    case unsafePath
    /// The item, or something in it, is mounted a second time, or is part of a mounted overlay.
    case mountedElsewhere
    /// The item does not lie below a search root.
    case outsideRoots
    /// The item is, or contains, something that cannot be tested for being in use.
    case untestable(Errno)
    /// The item is a directory, and processes that are not seen from this PID namespace may use it.
    case unseenProcesses

    /// The reason's stable name, for JSON and scripts.
    public var name: String {
        switch self {
        case .protected: "protected"
        case .protectionClass: "protection-class"
        case .symbolicLink: "symbolic-link"
        case .protectedRoot: "protected-directory"
        case .mountPoint: "mount-point"
        case .foreignOwner: "foreign-owner"
        case .unknownOwner: "unknown-owner"
        case .specialFile: "special-file"
        case .immutable: "immutable"
        case .tooYoung: "too-young"
        case .fromTheFuture: "from-the-future"
        case .untrustedClock: "untrusted-clock"
        case .listedForKeeping: "listed-for-keeping"
        case .partOfUnit: "part-of-directory"
        case .untrustedMark: "untrusted-mark"
        case .notACache: "not-a-cache"
        case .reservedName: "reserved-name"
        case .companion: "companion"
        case .unreadable: "unreadable"
        case .tooSmall: "too-small"
        case .freesNothing: "frees-nothing"
        case .changed: "changed"
        case .inUse: "in-use"
        case .locked: "locked"
        case .processInside: "process-inside"
        case .programRunning: "program-running"
        case .watched: "watched"
        case .unsafePath: "unsafe-path"
        case .mountedElsewhere: "mounted-elsewhere"
        case .outsideRoots: "outside-roots"
        case .untestable, .unseenProcesses: "untestable"
        }
    }

    /// Whether the item is kept until it or the settings change.
    package var isLasting: Bool {
        switch self {
        case .protected, .protectedRoot, .foreignOwner, .unknownOwner, .unseenProcesses,
            .specialFile, .immutable, .listedForKeeping, .untrustedMark, .notACache, .reservedName,
            .mountPoint, .unsafePath:
            true
        case .protectionClass, .symbolicLink, .tooYoung, .fromTheFuture, .untrustedClock,
            .partOfUnit, .companion, .unreadable, .tooSmall, .freesNothing, .changed, .inUse,
            .locked, .processInside, .programRunning, .watched, .mountedElsewhere, .outsideRoots,
            .untestable:
            false
        }
    }

    /// Whether the system refused what an examination needs.
    var isUnexamined: Bool {
        switch self {
        case .untestable, .unseenProcesses, .unreadable: true
        default: false
        }
    }

    /// The reason in words, without any path.
    public var sentence: String {
        switch self {
        case .protected(let purgeability): purgeability.sentence
        case .protectionClass: "it, or something in it, has a protection class"
        case .symbolicLink: "a symbolic link is deleted only with the directory it is in"
        case .protectedRoot: "it is or contains a protected directory"
        case .mountPoint: "another filesystem begins there"
        case .foreignOwner: "it, or something in it, belongs to another user"
        case .unknownOwner:
            "it, or something in it, belongs to a user whom neither /etc/passwd nor getent knows"
        case .specialFile: "it is or contains a socket, a FIFO or a device"
        case .immutable: "it is, or something in it is, immutable or append-only"
        case .tooYoung(let minimumAge):
            "it was used or changed too recently: less than \(ageText(minimumAge)) ago"
        case .fromTheFuture: "its times are in the future"
        case .untrustedClock: "its age depends on a clock that may be wrong, and space is not short"
        case .listedForKeeping: "tmpfiles.d says that it, or something in it, is never cleaned"
        case .partOfUnit: "it lies in a directory that is deleted whole or not at all"
        case .untrustedMark:
            "its mark is not trusted: other users can write to it or to a directory above it, or "
                + "other programs fill that directory"
        case .notACache(let why): "it looks like a cache but isn't: \(why)"
        case .reservedName(let why): "other programs rely on it: \(why)"
        case .companion:
            "it and a file beside it are deleted together or not at all, as a database and its journals"
        case .unreadable(let errno): "it, or something in it, could not be read: \(errno)"
        case .tooSmall:
            "it frees little: small items go only where those of a directory come to 1 MiB"
        case .freesNothing: "deleting it would free nothing"
        case .changed: "it was used or changed after planning began"
        case .inUse: "it, or a file in it, is in use by another process"
        case .locked: "it, or a directory above it or in it, is locked by another process"
        case .processInside:
            "a process has it, or a directory in it, open or as its working directory"
        case .unsafePath: "unsafe path transition: another user controls a part of its path"
        case .programRunning:
            "it was made while a program of its owner ran that still runs, and may use it"
        case .watched: "a program waits for changes in it"
        case .mountedElsewhere: "it, or something in it, is in use as a mount elsewhere"
        case .outsideRoots: "it is not in the directories that are searched"
        case .untestable(let errno): "it is not known whether it is in use: \(errno)"
        case .unseenProcesses:
            "processes outside of this PID namespace may use it (if none does: --alone, or alone = "
                + "true in purge.toml)"
        }
    }
}

extension KeepReason {
    /// The reason for an item with a name that purges give, and for a unit that holds one.
    package static let putAside = KeepReason.reservedName("a purge put it aside")

    /// The reason for an item that could not be reached or inspected, from what was thrown on the
    /// way: a ``KeepReason`` itself, the errno of a system call, or the error of a path.
    init(reaching error: any Error) {
        switch error {
        case let reason as KeepReason: self = reason
        case let errno as Errno: self.init(reaching: errno)
        case let error as FileError where error.code == .unsafePath: self = .unsafePath
        default: self = .unreadable((error as? FileError)?.errno ?? .ioError)
        }
    }

    private init(reaching errno: Errno) {
        switch errno {
        case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels,
            .staleNFSFileHandle:
            self = .changed
        case .improperLink: self = .mountPoint
        default: self = .unreadable(errno)
        }
    }
}
