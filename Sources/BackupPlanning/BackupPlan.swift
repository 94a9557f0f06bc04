import EffectiveValues
import Eviction
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// What a backup will store and what it leaves out, decided before anything is stored.
public struct BackupPlan: Sendable {
    /// The directories and files to back up: absolute real paths, without those that lie in another.
    public internal(set) var sources: [FilePath]
    /// What is left out, sorted by path. A directory stands for its contents: the entry itself is
    /// stored.
    public internal(set) var exclusions: [LeftOutItem] = []
    /// What has to be reported: marks that do not count, and what could not be looked at.
    public internal(set) var notices: [PlanNotice] = []
    /// Counts of what is stored and left out.
    public internal(set) var totals = PlanTotals()
    /// Items that store a protection class themselves, sorted by path; what is left out as a whole
    /// was not looked at.
    public internal(set) var protectedItems: [ProtectedItem] = []
    /// What is stored that has extended attributes, sorted by path.
    public internal(set) var attributedItems: [AttributedItem] = []
    /// What a snapshot must hold; nil unless it was asked for.
    public internal(set) var manifest: PlanManifest?

    /// What is left out by a mark that a user other than the item's owner may have set.
    public var doubtfulExclusions: [LeftOutItem] {
        let paths = Set(
            notices.lazy.filter { $0.matter == .issue(.writableByOthers) }.map(\.path))
        return paths.isEmpty ? [] : exclusions.filter { paths.contains($0.path) }
    }

    /// The placeholders of evicted files, which are left out.
    public var placeholders: [Placeholder] { exclusions.compactMap(\.reason.placeholder) }

    /// Those of the placeholders whose content the backup's repository does not keep.
    public var missingPlaceholders: [Placeholder] {
        notices.compactMap {
            guard case .missing(let placeholder) = $0.matter else { return nil }
            return placeholder
        }
    }

    /// Notes which placeholders' content the backup's repository does not keep.
    ///
    /// - Parameter isKept: whether it keeps that of a placeholder, by its record.
    public mutating func noteMissing(_ isKept: (EvictionRecord) -> Bool) {
        let missing = exclusions.compactMap { item in
            item.reason.placeholder.flatMap { placeholder in
                isKept(placeholder.record)
                    ? nil : PlanNotice(path: item.path, matter: .missing(placeholder))
            }
        }
        guard !missing.isEmpty else { return }
        notices = (notices + missing).sorted { $0.path.precedes($1.path) }
    }

    /// Whether something that should be stored cannot be, as far as the plan can tell.
    public var isIncomplete: Bool {
        notices.contains(where: \.isShortfall) || exclusions.contains(where: \.reason.isShortfall)
    }
}

/// Something a backup leaves out.
public struct LeftOutItem: Sendable, Hashable {
    /// The absolute path.
    public let path: FilePath
    /// Whether it is a directory, of which the entry itself is stored.
    public let isDirectory: Bool
    /// Why.
    public let reason: LeftOutReason
}

/// Something a plan has to report about one item.
public struct PlanNotice: Sendable, Hashable {
    /// What is to be reported.
    public enum Matter: Sendable, Hashable {
        /// Marks that do not count, or contradict each other.
        case issue(PolicyIssue)
        /// The item could not be looked at; what is below it is not in the plan.
        case unreadable(FileError)
        /// The item was there before, and was moved here while the plan was made, which may not have met it
        /// under any name.
        case moved
        /// The file is the placeholder of an evicted one, whose content the backup's repository does not
        /// keep.
        case missing(Placeholder)
        /// The file shows signs of an eviction, and is no placeholder: it is stored as it is.
        case eviction(EvictionSign)
    }

    /// The absolute path.
    public let path: FilePath
    /// What is to be reported.
    public let matter: Matter

    /// Whether it keeps something out of the backup that should be in it.
    public var isShortfall: Bool {
        switch matter {
        case .issue, .eviction(.stale): false
        case .unreadable, .moved, .missing, .eviction: true
        }
    }

    /// The matter in words, without the path.
    public var sentence: String {
        switch matter {
        case .issue(let issue): issue.sentence
        case .unreadable(let error): error.description
        case .moved:
            "was moved while the plan was made, so it may be missing (run it again when nothing moves)"
        case .missing(let placeholder):
            "is evicted, and the snapshot with its content, \(placeholder.record.snapshot.prefix(8)) of "
                + "repository \(placeholder.record.repository.prefix(8)), is not in this backup's "
                + "repository: nothing of its content is stored (bring it back: resval-backup "
                + "download, or --with-evicted)"
        case .eviction(let sign): sign.sentence
        }
    }
}

extension EvictionSign {
    /// What is wrong with a file that is stored all the same, in words.
    fileprivate var sentence: String {
        switch self {
        case .placeholder: "is evicted"
        case .unfinished:
            "was being evicted or brought back when that was cut off, and is stored as it is, maybe "
                + "without parts of its content (resval-backup download brings it back)"
        case .exposed:
            "is evicted, but has permission bits, and is stored as it is, without content "
                + "(resval-backup download brings it back; chmod 0 makes it a placeholder again)"
        case .stale:
            "has the record of an evicted file, but content again, which is stored (what was evicted "
                + "is in snapshot \(record?.snapshot.prefix(8) ?? ""))"
        case .unrecorded:
            "has a size, no content and no permission bits, as an evicted file has, but no record of "
                + "its content; it is stored as it is (restore it, or give it permission bits if it "
                + "is to be empty)"
        }
    }
}

/// Counts of a plan.
public struct PlanTotals: Sendable, Hashable {
    /// Regular files to store; each name of a file with several counts.
    public internal(set) var storedFiles = 0
    /// Directories to store, those whose contents are left out included.
    public internal(set) var storedDirectories = 0
    /// Symbolic links, FIFOs and devices to store.
    public internal(set) var storedOthers = 0
    /// The sizes of the regular files to store, in bytes.
    public internal(set) var storedBytes: Int64 = 0
    /// Items left out; a directory counts once, whatever it holds.
    public internal(set) var leftOutItems = 0
    /// The sizes of the regular files left out by themselves, in bytes. Contents of directories that
    /// are left out were not looked at.
    public internal(set) var leftOutFileBytes: Int64 = 0
    /// All items to store.
    public var storedItems: Int { storedFiles + storedDirectories + storedOthers }

    mutating func add(_ other: PlanTotals) {
        storedFiles += other.storedFiles
        storedDirectories += other.storedDirectories
        storedOthers += other.storedOthers
        storedBytes.addSaturating(other.storedBytes)
        leftOutItems += other.leftOutItems
        leftOutFileBytes.addSaturating(other.leftOutFileBytes)
    }

    /// - Parameter isStored: whether the item's entry is stored; also true for a directory whose
    ///   contents are left out.
    mutating func count(_ status: FileStatus, isLeftOut: Bool, isStored: Bool) {
        let bytes = status.kind == .regularFile ? status.size : 0
        if isLeftOut {
            leftOutItems += 1
            leftOutFileBytes.addSaturating(bytes)
        }
        guard isStored else { return }
        switch status.kind {
        case .directory: storedDirectories += 1
        case .regularFile:
            storedFiles += 1
            storedBytes.addSaturating(bytes)
        default: storedOthers += 1
        }
    }
}
