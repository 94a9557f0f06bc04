import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemPackage

/// What a backup will store and what it excludes, decided before anything is stored.
public struct BackupPlan: Sendable {
    /// The directories and files to back up: absolute real paths, none inside another.
    public internal(set) var sources: [FilePath] = []
    /// These and the sources inside others.
    package internal(set) var named: [FilePath] = []
    /// The sources that are not walked, each with a notice.
    package internal(set) var refused: [FilePath] = []
    /// The excluded items, sorted by path. A directory stands for its contents: its own entry is
    /// stored.
    public internal(set) var exclusions: [ExcludedItem] = []
    /// The state directory of these programs, if it is below a source: only the record of the snapshot is
    /// stored of it, and ``exclusions`` does not list it.
    package internal(set) var ownState: [ExcludedItem] = []
    /// The notices to report, such as ignored marks and items that could not be read.
    public package(set) var notices: [PlanNotice] = []
    /// The counts of stored and excluded items.
    public var totals: PlanTotals {
        sourceTotals.reduce(into: PlanTotals()) { $0.add($1) }
    }
    /// These counts for each source, in the order of ``sources``.
    package internal(set) var sourceTotals: [PlanTotals] = []
    /// The items with a protection class of their own, sorted by path. The contents of excluded
    /// directories were not examined.
    public internal(set) var protectedItems: [ProtectedItem] = []
    /// The policy that decided, in which no source is part of a location.
    package let policy: StoragePolicy
    /// What is stored; nil unless it was requested.
    public internal(set) var manifest: PlanManifest?
    /// The names of what is stored, each followed by a NUL, by the path of their directory, which is
    /// empty for `/`. A directory has an entry of its own and is not among the names. Nil unless
    /// requested.
    var names: [[UInt8]: [UInt8]]?

    init(policy: StoragePolicy, manifest: PlanManifest?, names: [[UInt8]: [UInt8]]?) {
        self.policy = policy
        self.manifest = manifest
        self.names = names
    }

    mutating func add(_ part: BackupPlan) {
        exclusions += part.exclusions
        ownState += part.ownState
        notices += part.notices
        for (number, added) in part.sourceTotals.enumerated() {
            totals(of: number) { $0.add(added) }
        }
        protectedItems += part.protectedItems
        if let found = part.manifest { manifest?.append(contentsOf: found) }
        if let found = part.names { names?.merge(found) { $0 + $1 } }
    }

    mutating func appendName(of path: [UInt8], isDirectory: Bool) {
        guard names != nil else { return }
        if isDirectory {
            names?[path == [UInt8(ascii: "/")] ? [] : path, default: []] += []
        } else if let slash = path.lastIndex(of: UInt8(ascii: "/")) {
            names?[Array(path[..<slash]), default: []] += path[(slash + 1)...] + [0]
        }
    }

    mutating func totals(of number: Int, _ change: (inout PlanTotals) -> Void) {
        while sourceTotals.count <= number { sourceTotals.append(PlanTotals()) }
        change(&sourceTotals[number])
    }

    /// Sorts what the threads found, and adds what the sources themselves show.
    mutating func finish(for walked: [EffectiveItem]) {
        sources = walked.map(\.path)
        // All sources beyond the largest number share it.
        while sourceTotals.count < sources.count { sourceTotals.append(PlanTotals()) }
        exclusions.sort { $0.path.precedes($1.path) }
        // Sources with a common ancestor report the same issues.
        notices += Set(
            walked.flatMap(\.ancestorIssues).map {
                PlanNotice(path: $0.path, matter: .issue($0.issue))
            })
        notices.sort { $0.path.precedes($1.path) }
        protectedItems.sort { $0.path.precedes($1.path) }
        manifest?.finish()
    }

    /// The items excluded by a mark that a user other than the owner may have set.
    public var doubtfulExclusions: [ExcludedItem] {
        let paths = Set(
            notices.lazy.filter { $0.matter == .issue(.writableByOthers) }.map(\.path))
        return paths.isEmpty ? [] : exclusions.filter { paths.contains($0.path) }
    }

    /// The placeholders of evicted files, which are excluded.
    public var placeholders: [Placeholder] { exclusions.compactMap(\.reason.placeholder) }

    /// The placeholders whose content is not in the backup's repository.
    package var pathsWithoutContent: Set<FilePath> {
        Set(notices.lazy.compactMap { if case .missing = $0.matter { $0.path } else { nil } })
    }

    /// Adds a notice for each placeholder of this process's user whose content is not in the backup's
    /// repository. What the records of other users say makes no backup incomplete.
    ///
    /// - Parameters:
    ///   - repository: the backup's repository, as eviction records name it.
    ///   - isKept: whether it has the content that a record refers to.
    public mutating func noteMissing(
        in repository: String, _ isKept: (EvictionRecord) -> Bool
    ) {
        let missing = exclusions.compactMap { item in
            item.reason.placeholder.flatMap { placeholder in
                placeholder.owner != effectiveUser() || isKept(placeholder.record)
                    ? nil
                    : PlanNotice(
                        path: item.path,
                        matter: .missing(
                            placeholder, isElsewhere: placeholder.record.repository != repository))
            }
        }
        add(missing)
    }

    /// Whether a notice is of a source that does not exist, rather than of an item that vanished meanwhile.
    package func isOfMissing(_ notice: PlanNotice) -> Bool {
        guard case .unreadable(let error) = notice.matter else { return false }
        return error.code == .noSuchFile && refused.contains(notice.path)
    }

    mutating func add(_ added: [PlanNotice]) {
        if !added.isEmpty { notices = (notices + added).sorted { $0.path.precedes($1.path) } }
    }

    /// Whether something that should be stored cannot be, as far as the plan can tell.
    public var isIncomplete: Bool {
        notices.contains(where: \.isShortfall) || exclusions.contains(where: \.reason.isShortfall)
    }
}

/// A notice about one item of a plan.
public struct PlanNotice: Sendable, Hashable {
    /// What the notice reports.
    public enum Matter: Sendable, Hashable {
        /// Marks that are ignored or contradict each other.
        case issue(PolicyIssue)
        /// The item could not be read; nothing below it is in the plan.
        case unreadable(FileError)
        /// The item is a source that would not be stored.
        case refused(SourceError)
        /// The file is the placeholder of an evicted file whose content is not in the backup's
        /// repository, and may be in another, into which it was evicted.
        case missing(Placeholder, isElsewhere: Bool)
        /// The file shows signs of an eviction but is not a placeholder; it is stored as it is.
        case eviction(EvictionSign, FileStatus)
        /// The item has an extended attribute whose name is not UTF-8, which restic cannot store.
        case attributeName
    }

    /// The absolute path.
    public let path: FilePath
    /// What the notice reports.
    public let matter: Matter

    /// Whether the notice means that something is missing from the backup.
    public var isShortfall: Bool {
        switch matter {
        case .issue, .eviction(.stale, _): false
        // Other users may write there what they like.
        case .eviction(_, let status): status.owner == effectiveUser()
        case .unreadable, .refused, .missing, .attributeName: true
        }
    }

    /// The matter in words, without the path.
    public var sentence: String {
        switch matter {
        case .issue(let issue): issue.sentence
        case .unreadable(let error): error.description
        case .refused(let error): error.description
        case .missing(let placeholder, _):
            "is evicted, and the snapshot with its content, \(placeholder.record.snapshot.prefix(8)) of "
                + "repository \(placeholder.record.repository.prefix(8)), is not in this backup's "
                + "repository: its content is not stored (download it: resval-backup download)"
        case .eviction(let sign, _): sign.sentence
        case .attributeName:
            "has an extended attribute whose name is not UTF-8, which restic stores under another name"
        }
    }
}

extension EvictionSign {
    /// What is wrong with a file that is stored nevertheless, in words.
    fileprivate var sentence: String {
        switch self {
        case .placeholder: "is evicted"
        case .unfinished:
            "its eviction or download was interrupted, and it is stored as it is, maybe without "
                + "parts of its content (resval-backup download restores its content; if it was "
                + "written to since, chmod u+rw keeps what is there)"
        case .exposed:
            "is evicted, but has permission bits, and is stored as it is, without content "
                + "(resval-backup download restores it; chmod 0 makes it an evicted file again)"
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

/// The counts of a plan.
public struct PlanTotals: Sendable, Hashable {
    /// The number of regular files to store; each hard link counts.
    public internal(set) var storedFiles = 0
    /// The number of directories to store, including those whose contents are excluded.
    public internal(set) var storedDirectories = 0
    /// The number of symbolic links, FIFOs and devices to store.
    public internal(set) var storedOthers = 0
    /// The total size of the regular files to store, in bytes.
    public internal(set) var storedBytes: Int64 = 0
    /// The number of excluded items; a directory counts once, whatever it contains.
    public internal(set) var excludedItems = 0
    /// The total size, in bytes, of the regular files that are excluded individually. The contents
    /// of excluded directories were not examined.
    public internal(set) var excludedFileBytes: Int64 = 0
    /// The number of all items to store.
    public var storedItems: Int { storedFiles + storedDirectories + storedOthers }

    mutating func add(_ other: PlanTotals) {
        storedFiles += other.storedFiles
        storedDirectories += other.storedDirectories
        storedOthers += other.storedOthers
        storedBytes.addSaturating(other.storedBytes)
        excludedItems += other.excludedItems
        excludedFileBytes.addSaturating(other.excludedFileBytes)
    }

    /// Counts one item.
    ///
    /// - Parameter isStored: whether the item's entry is stored; also true for a directory whose
    ///   contents are excluded.
    mutating func count(_ status: FileStatus, isExcluded: Bool, isStored: Bool) {
        let bytes = status.kind == .regularFile ? status.size : 0
        if isExcluded {
            excludedItems += 1
            excludedFileBytes.addSaturating(bytes)
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

/// An item that a backup excludes.
public struct ExcludedItem: Sendable, Hashable {
    /// The absolute path.
    public let path: FilePath
    /// Whether the item is a directory.
    public let isDirectory: Bool
    /// Why the item is excluded.
    public let reason: ExclusionReason

    /// Whether it is a directory whose own entry is stored.
    var isEmptied: Bool { isDirectory && !reason.excludesEntry }
}

/// An item that stores a protection class, which applies to everything below it too.
public struct ProtectedItem: Sendable, Hashable {
    /// The absolute path.
    public let path: FilePath
    /// The class; `complete` for one that is not valid.
    public let protectionClass: FileProtection
}

extension EffectiveProtection {
    /// The class that the item itself stores, when that class forbids storing the item in
    /// plaintext; otherwise nil.
    var ownClass: FileProtection? {
        ownCause.flatMap { $0.forbidsPlaintext ? $0.protectionClass : nil }
    }
}

extension FilePath {
    func precedes(_ other: FilePath) -> Bool {
        withPlatformString { first in
            other.withPlatformString { second in
                var index = 0
                while first[index] == second[index] && first[index] != 0 { index += 1 }
                return UInt8(bitPattern: first[index]) < UInt8(bitPattern: second[index])
            }
        }
    }
}
