import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// Why a file was not evicted or not restored.
///
/// The operations throw it, or the ``FileError`` or errno of a call that failed, from which
/// ``init(_:at:)`` makes one.
package enum EvictionError: Error, Sendable, Hashable {
    // Errors of evicting a file

    /// The item is not a regular file.
    case notRegular
    /// The file has this many hard links, and all of them would lose the content.
    case hardLinked(Int)
    /// The file belongs to another user.
    case foreignOwner
    /// The file is already a placeholder.
    case alreadyEvicted
    /// The file uses no blocks: it is empty, has only holes, or is stored inline in its inode.
    case nothingToFree
    /// The file shares its blocks with another file, so evicting it would free nothing.
    case sharedBlocks
    /// The file is immutable, append-only or sealed by fs-verity; the text says which.
    case sealed(String)
    /// The file has file capabilities, which are lost when its content changes.
    case capabilities
    /// The file has set-user-ID, set-group-ID or sticky bits, which are not restored from a record.
    case specialBits
    /// The filesystem cannot free the blocks of a file, or has no leases.
    case unsupportedFilesystem
    /// The file is needed to restore evicted files; the text says what it is.
    case needed(String)
    /// The file is excluded from backups by a mark or a location; the text says which.
    case excluded(String)
    /// The content in the snapshot differs from that of the file.
    case contentDiffers

    // Errors of filling a placeholder

    /// The file has no record.
    case notEvicted
    /// The file has a record but is not a placeholder.
    case notPlaceholder
    /// Owner, size, permission bits or time are not those of the file that the record refers to.
    case recordDisagrees
    /// The snapshot does not return the content that the file had.
    case damagedSnapshot
    /// There is no space for the content: this many bytes are missing; nil when unknown.
    case noSpace(missing: Int64?)

    // Errors of both

    /// The file is open or mapped in another process, or is being evicted or downloaded.
    case inUse
    /// The file, or the item at its path, changed during the operation.
    case changed
    /// An earlier eviction or download of the file was interrupted.
    case unfinished
    /// A system call failed.
    case file(FileError)
    /// The repository or something else failed; the text says what.
    case failed(String)
}

extension EvictionError {
    /// Creates the reason from what an operation on the file at a path threw: a reason, a
    /// ``FileError``, or the errno of a system call.
    public init(_ error: any Error, at path: FilePath) {
        self = error as? EvictionError ?? .file(FileError(error, of: path))
    }

    /// The short name, for JSON.
    package var name: String {
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
        case .contentDiffers: "content-differs"
        case .notEvicted: "not-evicted"
        case .notPlaceholder: "not-placeholder"
        case .recordDisagrees: "record-disagrees"
        case .damagedSnapshot: "damaged-snapshot"
        case .noSpace: "no-space"
        case .inUse: "in-use"
        case .changed: "changed"
        case .unfinished: "unfinished"
        case .file(let error): error.code.description
        case .failed: "failed"
        }
    }

    /// What is wrong and what to do, without the path.
    package var sentence: String {
        switch self {
        case .notRegular: "is not a regular file"
        case .hardLinked(let count):
            "has \(count) hard links, which all lead to the content (remove the others first)"
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
        case .needed(let what): "is needed to download evicted files: it is \(what)"
        case .excluded(let reason):
            "is excluded from backups, so no snapshot may contain it: \(reason) "
                + "(unset the mark first)"
        case .contentDiffers:
            "was left alone: its content is not what the snapshot contains (run again when nothing "
                + "writes to it; if it happens again: resval-backup verify --read-data)"
        case .notEvicted: "is not evicted: it has no record"
        case .notPlaceholder:
            "was left alone: it is no longer the placeholder, so its content is not overwritten "
                + "(to find the snapshot with the evicted content: resval-backup evict --list)"
        case .recordDisagrees:
            "was left alone: owner, size, permission bits or time are not those of the file in the "
                + "snapshot that its record names"
        case .damagedSnapshot:
            "was not downloaded: the snapshot does not have the content it had "
                + "(check the repository: resval-backup verify --read-data)"
        case .noSpace(let missing):
            "was not downloaded: no space left"
                + (missing.map { ", \(sizeText($0)) short" } ?? "")
                + " (free space and try again)"
        case .inUse:
            "is in use by another process, or being evicted or downloaded (try again later)"
        case .changed: "was left alone: it changed meanwhile (run again when nothing writes to it)"
        case .unfinished:
            "its eviction or download was interrupted "
                + "(resval-backup download restores its content)"
        case .file(let error): error.description
        case .failed(let reason): reason
        }
    }
}
