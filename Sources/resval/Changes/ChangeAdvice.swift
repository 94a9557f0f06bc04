import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Warns about stored marks that may not have the intended effect, once where that is enough.
///
/// What takes reading the mount table or the directories above is found out for people only, at a
/// terminal.
final class ChangeAdvisor {
    private let advice: ChangeAdvice
    private let copyUp = CopyUp()
    private var hasAdvisedDirectory = false
    private var hasAdvisedOnPurging = false
    private lazy var environment = PolicyEnvironment.current()
    private lazy var reader = makeReader()

    init(_ changes: [MarkChange]) {
        advice = ChangeAdvice(changes)
    }

    /// Warns about an item on which the changes were made.
    ///
    /// - Parameter status: its status before that; nil to read it now.
    func advise(about item: borrowing ListedPath, _ status: FileStatus?) {
        if Messages.areOnTerminal {
            if advice.storesInclusion { adviseOnAncestors(of: item) }
            if advice.storesPurgeable, !hasAdvisedOnPurging { adviseOnPurging(of: item) }
        }
        // What the change did to a file of an overlay shows only afterwards.
        let known = status.flatMap { CopyUp.isPossible(for: $0) ? nil : $0 }
        guard let status = known ?? (try? item.status()), status.kind == .regularFile else {
            return
        }
        if copyUp.hasHappened(to: item, status) {
            warn(
                item,
                "it was in a lower layer of an overlay: the whole file was copied up, "
                    + sizeText(status.allocatedSize))
        }
        guard advice.storesValues else { return }
        if status.linkCount > 1 {
            warn(item, "the file has \(status.linkCount) hard links: \(advice.hardLink)")
        }
        if advice.storesFragileValue && !hasAdvisedDirectory {
            hasAdvisedDirectory = true
            warn(item, "\(advice.fragile) (shown once)")
        }
    }

    /// Warns when an excluded directory above the item excludes the item in spite of its mark.
    private func adviseOnAncestors(of item: borrowing ListedPath) {
        guard let reader else { return }
        do throws(FileError) {
            let exclusion = try reader.item(at: item.path, followsLast: item.followsSymbolicLink)
                .decision.exclusion
            guard exclusion.cause.isExcluded, let ancestor = exclusion.ancestor else { return }
            warn(
                item,
                "stored, but it is still excluded from backups by a directory above it, "
                    + "\(NameEscaping.text(ancestor.bytes)): \(exclusion.cause.sentence)")
        } catch {
            warn(item, "stored; cannot tell whether a directory above excludes it: \(error)")
        }
    }

    /// Tells how a mark is reached outside the directories that a purge searches by itself.
    private func adviseOnPurging(of item: borrowing ListedPath) {
        guard let reader else { return }
        do throws(FileError) {
            let path = try reader.item(at: item.path, followsLast: item.followsSymbolicLink).path
            let location = environment.locations.location(holding: path)
            if let location, location.kind != .documents { return }
            hasAdvisedOnPurging = true
            if environment.locations.protectedRoots.contains(where: { path.isHeld(by: $0) }) {
                return warn(item, "stored, but resval-purge deletes nothing here (shown once)")
            }
            let command = "resval-purge run --free 1G \(ShellWord.quoted(path.bytes))"
            warn(
                item,
                "stored, but resval-purge does not search here by default: add the directory to "
                    + "mark-roots in purge.toml, or run '\(command)' (shown once)")
        } catch {
            warn(item, "stored; cannot tell whether resval-purge searches here: \(error)")
        }
    }

    private func makeReader() -> EffectiveValueReader? {
        let policy = StoragePolicy(markers: [.native], locations: environment.locations)
        do throws(FileError) {
            return try EffectiveValueReader(policy)
        } catch {
            Messages.write(error)
            return nil
        }
    }

    private func warn(_ item: borrowing ListedPath, _ text: String) {
        Messages.warn(about: Array(item.bytes), text)
    }
}

/// Advice about changes that may not have the intended effect.
struct ChangeAdvice {
    /// Whether any change stores a value rather than removing it.
    let storesValues: Bool
    /// Whether any change stores a value whose loss does harm: a protection class or
    /// `isPurgeable=false`. Programs that save by replacing the file lose its marks.
    let storesFragileValue: Bool
    /// Whether any change stores `isExcludedFromBackup=false`.
    let storesInclusion: Bool
    /// Whether any change stores `isPurgeable=true`.
    let storesPurgeable: Bool

    init(_ changes: [MarkChange]) {
        storesValues = changes.contains { $0.value != nil }
        storesFragileValue = changes.contains { change in
            switch (change.key, change.value) {
            case (.fileProtection, .some), (.isPurgeable, .boolean(false)?): true
            default: false
            }
        }
        storesInclusion = changes.contains {
            $0.key == .isExcludedFromBackup && $0.value == .boolean(false)
        }
        storesPurgeable = changes.contains {
            $0.key == .isPurgeable && $0.value == .boolean(true)
        }
    }

    /// The advice for files with several hard links.
    let hardLink =
        "they share their marks (to exclude such a file from backups, mark its directory)"

    /// The advice for marks that are lost when a file is replaced.
    let fragile =
        "programs that save by writing a new file drop this mark (mark the directory instead)"
}

/// The counts for warnings that are given once for a whole tree.
final class ChangeTally: Sendable {
    struct Counts: Sendable {
        /// Items that cannot store marks.
        var skipped = 0
        /// Regular files that were changed.
        var files = 0
        /// Changed regular files with several hard links.
        var hardLinked = 0
        /// Changed regular files that were copied up on overlays, and their bytes on disk.
        var copiedUp = 0
        var copiedUpBytes: Int64 = 0

        init() {}

        /// Counts a changed item.
        init(changed status: FileStatus) {
            guard status.kind == .regularFile else { return }
            files = 1
            hardLinked = status.linkCount > 1 ? 1 : 0
        }

        mutating func add(_ other: Counts) {
            skipped += other.skipped
            files += other.files
            hardLinked += other.hardLinked
            copiedUp += other.copiedUp
            copiedUpBytes.addSaturating(other.copiedUpBytes)
        }
    }

    private let total = Monitor(Counts())
    private let copyUp = CopyUp()

    func add(_ counts: Counts) {
        total.withLock { $0.add(counts) }
    }

    /// Counts an item that was changed, by its status since then.
    func add(changed item: borrowing some FileLocation & ~Copyable, _ status: FileStatus) {
        add(counts(changed: item, status))
    }

    /// Returns the counts of an item that was changed, by its status since then.
    func counts(
        changed item: borrowing some FileLocation & ~Copyable, _ status: FileStatus
    ) -> Counts {
        var counts = Counts(changed: status)
        if copyUp.hasHappened(to: item, status) {
            counts.copiedUp = 1
            counts.copiedUpBytes = status.allocatedSize
        }
        return counts
    }

    func report(on changes: [MarkChange]) {
        let counts = total.withLock { $0 }
        if counts.skipped > 0 {
            let skipped = counted(
                counts.skipped, "link or special file", "links and special files")
            note("skipped \(skipped), which cannot have marks")
        }
        if counts.copiedUp > 0 {
            note(
                "copied up \(counted(counts.copiedUp, "file")) of a lower layer of an overlay, "
                    + sizeText(counts.copiedUpBytes))
        }
        let advice = ChangeAdvice(changes)
        if advice.storesValues && counts.hardLinked > 0 {
            let files = counted(counts.hardLinked, "file")
            note("\(files) with several hard links: \(advice.hardLink)")
        }
        if advice.storesFragileValue && counts.files > 0 { note(advice.fragile) }
    }

    private func note(_ text: String) { Messages.warn(about: nil, text) }
}

/// Tells whether a change copied a file from a lower layer of an overlay to the upper one: the file
/// exists there only since this program began, with content that is older.
struct CopyUp: Sendable {
    /// When the changes began, less what the clock of files may be late.
    private let start: FileTime = {
        let now = FileTime.now
        return FileTime(seconds: now.seconds.subtractingSaturating(1), nanoseconds: now.nanoseconds)
    }()

    /// Whether a file can be on an overlay, which has no device of its own.
    static func isPossible(for status: FileStatus) -> Bool {
        deviceMajor(status.identity.device) == 0
    }

    /// - Parameter status: the item's status since the change.
    func hasHappened(
        to item: borrowing some FileLocation & ~Copyable, _ status: FileStatus
    ) -> Bool {
        guard status.kind == .regularFile, Self.isPossible(for: status),
            let created = status.creationTime, created >= start,
            status.contentModificationTime < start
        else { return false }
        return (try? filesystemStatus(of: item))?.type == overlay
    }
}

/// `OVERLAYFS_SUPER_MAGIC` of linux/magic.h.
private let overlay: UInt32 = 0x794C_7630
