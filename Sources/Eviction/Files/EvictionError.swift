import ResourceValues

/// Why a file was not evicted, or not brought back.
public enum EvictionError: Error, Sendable, Hashable {
    // What keeps a file from being evicted

    /// It is no regular file.
    case notRegular
    /// It has this many names, and all of them would lose the content.
    case hardLinked(Int)
    /// It belongs to another user.
    case foreignOwner
    /// It is a placeholder already.
    case alreadyEvicted
    /// It takes no blocks: it is empty, has holes only, or lies in its inode.
    case nothingToFree
    /// Another file has the same blocks, so freeing them here would free nothing.
    case sharedBlocks
    /// It is immutable, append-only or sealed by fs-verity, as the word says.
    case sealed(String)
    /// It has file capabilities, which a file loses whose content changes.
    case capabilities
    /// It has set-user-ID, set-group-ID or sticky bits, which no record gives back.
    case specialBits
    /// Its filesystem cannot free the blocks of a file, or has no leases.
    case unsupportedFilesystem
    /// It is in a place without which its content could not be brought back, as the words say.
    case needed(String)
    /// A mark or a location excludes it from backups, as the sentence says.
    case excluded(String)
    /// Its protection class forbids to store it in a repository that is not encrypted.
    case protected
    /// The snapshot does not hold the content that the file has.
    case contentDiffers

    // What keeps a placeholder from being filled

    /// It has no record.
    case notEvicted
    /// It has a record, and is not the placeholder any more.
    case notPlaceholder
    /// The snapshot does not give back the content that the file had.
    case damagedSnapshot
    /// There is no room for its content: this many bytes are missing, or nil where nobody knows.
    case noSpace(missing: Int64?)

    // What stands in the way of either

    /// Another process has it open or mapped, or an eviction or download of it is running.
    case inUse
    /// It, or what its path leads to, changed meanwhile.
    case changed
    /// An earlier eviction or download of it was cut off.
    case unfinished
    /// A system call failed.
    case file(FileError)
    /// The repository, or something else, failed, as the words say.
    case failed(String)
}

extension EvictionError {
    /// A short name, for JSON.
    public var name: String {
        switch self {
        case .notRegular: "not-regular"
        case .hardLinked: "hard-linked"
        case .foreignOwner: "foreign-owner"
        case .alreadyEvicted: "already-evicted"
        case .nothingToFree: "nothing-to-free"
        case .sharedBlocks: "shared-blocks"
        case .sealed: "sealed"
        case .capabilities: "capabilities"
        case .specialBits: "special-bits"
        case .unsupportedFilesystem: "unsupported-filesystem"
        case .needed: "needed"
        case .excluded: "excluded"
        case .protected: "protected"
        case .contentDiffers: "content-differs"
        case .notEvicted: "not-evicted"
        case .notPlaceholder: "not-placeholder"
        case .damagedSnapshot: "damaged-snapshot"
        case .noSpace: "no-space"
        case .inUse: "in-use"
        case .changed: "changed"
        case .unfinished: "unfinished"
        case .file(let error): error.code.description
        case .failed: "failed"
        }
    }

    /// What is wrong and how to go on, without the path.
    public var sentence: String {
        switch self {
        case .notRegular: "is no regular file"
        case .hardLinked(let count):
            "has \(count) names, which all lead to the content (remove the others first)"
        case .foreignOwner: "belongs to another user (run the command as that user)"
        case .alreadyEvicted: "is evicted already"
        case .nothingToFree: "takes no blocks that could be freed"
        case .sharedBlocks: "shares its blocks with another file, so nothing would be freed"
        case .sealed(let how): "is \(how)"
        case .capabilities:
            "has file capabilities, which it would lose (remove them first: setcap -r)"
        case .specialBits:
            "has set-user-ID, set-group-ID or sticky bits, which it would lose "
                + "(remove them first: chmod u-s,g-s,-t)"
        case .unsupportedFilesystem:
            "is on a filesystem that cannot free the blocks of a file, or has no leases "
                + "(ext4, xfs, btrfs and tmpfs can)"
        case .needed(let what): "is needed to bring evicted files back: it is \(what)"
        case .excluded(let reason):
            "is excluded from backups, so no snapshot may hold it: \(reason) (unset the mark first)"
        case .protected:
            "has a protection class, and the repository is not encrypted (use one of restic's)"
        case .contentDiffers:
            "was left alone: the snapshot does not hold the content it has (run again at rest; if it "
                + "happens again: resval-backup verify --read-data)"
        case .notEvicted: "is not evicted: it has no record"
        case .notPlaceholder:
            "was left alone: it is not the placeholder any more, so its content is not overwritten "
                + "(what was evicted is in the snapshot: see resval-backup evicted)"
        case .damagedSnapshot:
            "was not brought back: the snapshot does not give the content it had "
                + "(see resval-backup verify --read-data)"
        case .noSpace(let missing):
            "was not brought back: no space left"
                + (missing.map { ", \($0) bytes are missing" } ?? "")
                + " (free space and try again)"
        case .inUse:
            "is open in another process, or being evicted or brought back (try again later)"
        case .changed: "was left alone: it changed meanwhile (run again when it is at rest)"
        case .unfinished:
            "was being evicted or brought back when that was cut off "
                + "(resval-backup download brings it back)"
        case .file(let error): error.description
        case .failed(let reason): reason
        }
    }
}
