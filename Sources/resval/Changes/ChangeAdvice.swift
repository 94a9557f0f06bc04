import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy

/// Tells people at a terminal where a mark has no effect, which takes reading the directories above.
final class ChangeAdvisor {
    private let reader: EffectiveValueReader

    /// Creates an advisor; nil without a terminal, or where nothing is known to say about the changes.
    init?(_ changes: [MarkChange]) {
        let storesInclusion = changes.contains {
            $0.key == .isExcludedFromBackup && $0.value == .boolean(false)
        }
        guard storesInclusion, Messages.areOnTerminal else { return nil }
        do throws(FileError) {
            reader = try EffectiveValueReader(
                StoragePolicy(
                    markers: [.native], locations: PolicyEnvironment.current().locations))
        } catch {
            Messages.write(error)
            return nil
        }
    }

    /// Warns when an excluded directory above the item excludes the item in spite of its mark.
    func advise(about item: borrowing ListedPath) {
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

    private func warn(_ item: borrowing ListedPath, _ text: String) {
        Messages.warn(about: Array(item.bytes), text)
    }
}

/// Counts what a run changed, for warnings that are given once at its end. Threads share one.
final class ChangeTally: Sendable {
    private struct Counts {
        /// Items that cannot store marks.
        var skipped = 0
        /// Regular files that were changed.
        var files = 0
        var hardLinked = 0
        /// Changed regular files that were copied up on overlays, and their bytes on disk.
        var copiedUp = 0
        var copiedUpBytes: Int64 = 0
    }

    /// Whether any change stores a value rather than removing it.
    let storesValues: Bool
    /// Whether any change stores a value whose loss does harm: a protection class or
    /// `isPurgeable=false`. Programs that save by replacing the file lose its marks.
    private let storesFragileValue: Bool
    private let copyUp = CopyUp()
    private let counts = Monitor(Counts())

    init(_ changes: [MarkChange]) {
        storesValues = changes.contains { $0.value != nil }
        storesFragileValue = changes.contains { change in
            switch (change.key, change.value) {
            case (.fileProtection, .some), (.isPurgeable, .boolean(false)?): true
            default: false
            }
        }
    }

    /// Counts an item that was changed, by its status since then.
    func add(changed item: borrowing some FileLocation & ~Copyable, _ status: FileStatus) {
        guard status.kind == .regularFile else { return }
        let isCopiedUp = copyUp.hasHappened(to: item, status)
        counts.withLock {
            $0.files += 1
            if status.linkCount > 1 { $0.hardLinked += 1 }
            if isCopiedUp {
                $0.copiedUp += 1
                $0.copiedUpBytes.addSaturating(status.allocatedSize)
            }
        }
    }

    func add(skipped: Int) { counts.withLock { $0.skipped += skipped } }

    func report() {
        let counts = counts.withLock { $0 }
        if counts.skipped > 0 {
            let skipped = counted(
                counts.skipped, "link or special file", "links and special files")
            Messages.warn("skipped \(skipped), which cannot have marks")
        }
        if counts.copiedUp > 0 {
            Messages.warn(
                "copied up \(counted(counts.copiedUp, "file")) of a lower layer of an overlay, "
                    + sizeText(counts.copiedUpBytes))
        }
        if storesValues && counts.hardLinked > 0 {
            Messages.warn(
                "\(counted(counts.hardLinked, "file")) with several hard links: they share their "
                    + "marks (to exclude such a file from backups, mark its directory)")
        }
        if storesFragileValue && counts.files > 0 {
            Messages.warn(
                "programs that save by writing a new file drop this mark (mark the directory instead)"
            )
        }
    }
}

/// Tells whether a change copied a file from a lower layer of an overlay to the upper one: the file
/// exists there only since this program began, with content that is older.
struct CopyUp: Sendable {
    /// When the changes began, less what the clock of files may be late: it ticks each hundredth of a
    /// second at least.
    private let start: FileTime = {
        let late: UInt32 = 50_000_000
        let now = FileTime.now
        return now.nanoseconds >= late
            ? FileTime(seconds: now.seconds, nanoseconds: now.nanoseconds - late)
            : FileTime(
                seconds: now.seconds - 1, nanoseconds: now.nanoseconds + 1_000_000_000 - late)
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
