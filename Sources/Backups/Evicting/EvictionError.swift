import ResourceValues
import SystemCalls
import SystemPackage

/// Why a file was not evicted or not downloaded.
///
/// The operations throw it, or the ``FileError`` or errno of a call that failed, from which
/// ``init(_:at:)`` makes one.
package struct EvictionError: Error, Sendable, Hashable {
    package let name: String
    /// What is wrong and what to do, without the path.
    package let sentence: String

    private init(_ name: String, _ sentence: String) {
        self.name = name
        self.sentence = sentence
    }

    package init(_ error: any Error, at path: FilePath) {
        switch error {
        case let error as EvictionError: self = error
        // A lease of another process, or a running program.
        case Errno.resourceTemporarilyUnavailable, Errno.textFileBusy: self = .inUse
        case Errno.noSpace, Errno.diskQuotaExceeded: self = .noSpace(missing: nil)
        case Errno.notSupported, Errno.noFunction: self = .unsupportedFilesystem
        default:
            let error = FileError(error, of: path)
            self.init(error.code.description, error.description)
        }
    }

    static func failed(_ sentence: String) -> EvictionError { Self("failed", sentence) }
}

// Of evicting a file.
extension EvictionError {
    static let notRegular = Self("not-regular", "is not a regular file")

    static func hardLinked(_ count: Int) -> EvictionError {
        Self(
            "hard-linked",
            "has \(count) hard links, which all lead to the content (remove the others first)")
    }

    static let foreignOwner = Self(
        "foreign-owner", "belongs to another user (run the command as that user)")

    static let alreadyEvicted = Self("already-evicted", "is evicted already")

    /// The file is empty, takes up to 4 KiB, has only holes, or is stored inline in its inode.
    static let nothingToFree = Self(
        "nothing-to-free", "takes too few blocks to free any")

    static let sharedBlocks = Self(
        "shared-blocks", "shares its blocks with another file, so nothing would be freed")

    /// The file is immutable, append-only or sealed by fs-verity; the text says which.
    static func sealed(_ how: String) -> EvictionError { Self("sealed", "is \(how)") }

    static let capabilities = Self(
        "capabilities", "has file capabilities, which it would lose (remove them first: setcap -r)")

    /// An eviction record has no room for these bits.
    static let specialBits = Self(
        "special-bits",
        "has set-user-ID, set-group-ID or sticky bits, which it would lose "
            + "(remove them first: chmod u-s,g-s,-t)")

    static let unsupportedFilesystem = Self(
        "unsupported-filesystem",
        "is on a filesystem that cannot free the blocks of a file, or has no leases "
            + "(ext4, xfs, btrfs and tmpfs can)")

    static func needed(_ what: String) -> EvictionError {
        Self("needed", "is needed to download evicted files: it is \(what)")
    }

    static func excluded(_ reason: String) -> EvictionError {
        Self(
            "excluded",
            "is excluded from backups, so no snapshot may contain it: \(reason) "
                + "(unset the mark first)")
    }

    static let contentDiffers = Self(
        "content-differs",
        "was left alone: its content is not what the snapshot contains (run again when nothing "
            + "writes to it; if it happens again: resval-backup verify --read-data)")
}

// Of filling a placeholder.
extension EvictionError {
    static let notEvicted = Self("not-evicted", "is not evicted: it has no record")

    /// The file has a record and other data than its content.
    static let notPlaceholder = Self(
        "not-placeholder",
        "was left alone: it is no longer the evicted file, so its content is not overwritten "
            + "(to find the snapshot with the evicted content: resval-backup evict --list)")

    static let recordDisagrees = Self(
        "record-disagrees",
        "was left alone: owner, size, permission bits or time are not those of the file in the "
            + "snapshot that its record names")

    static let damagedSnapshot = Self(
        "damaged-snapshot",
        "was not downloaded: the snapshot does not have the content it had "
            + "(check the repository: resval-backup verify --read-data)")

    static func notDownloaded(_ error: BackupError) -> EvictionError {
        .failed("was not downloaded: \(error)")
    }
}

// Of both.
extension EvictionError {
    /// There is no space for the content or the record: this many bytes are missing; nil when unknown.
    static func noSpace(missing: Int64?) -> EvictionError {
        Self(
            "no-space",
            "was left as it is: no space left" + (missing.map { ", \(sizeText($0)) short" } ?? "")
                + " (free space and try again)")
    }

    static let inUse = Self(
        "in-use", "is in use by another process, or being evicted or downloaded (try again later)")

    static let changed = Self(
        "changed", "was left alone: it changed meanwhile (run again when nothing writes to it)")

    static let unfinished = Self(
        "unfinished",
        "its eviction or download was interrupted (resval-backup download restores its content; if "
            + "it was written to since, chmod u+rw keeps what is there)")
}
