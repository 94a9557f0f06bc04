import CommandSupport
import FileTree
import ResourceValues
import SystemCalls
import SystemPackage

/// Changes everything below a directory; each thread of the walk has one.
struct ChangeVisitor: TreeVisitor {
    private let change: ItemChange
    private let tally: ChangeTally
    private let batch: ChangeBatch
    private var reporter: WalkReporter
    private var counts = ChangeTally.Counts()

    init(
        _ change: ItemChange, _ run: ChangeRun, threadCount: Int, _ tally: ChangeTally,
        _ progress: Progress
    ) {
        self.change = change
        self.tally = tally
        batch = ChangeBatch(run, threadCount: threadCount) {
            tally.add(ChangeTally.Counts(changed: $0.status))
        }
        reporter = WalkReporter(run.outcome, progress)
    }

    mutating func visit(
        _ entry: borrowing TreeEntry, in root: TransferRoot
    ) -> Descent<TransferRoot> {
        reporter.count()
        // An item named on the command line that cannot store marks is an error, not skipped.
        guard entry.depth == 0 || entry.kind.canStoreUserAttributes || entry.kind == .unknown
        else {
            counts.skipped += 1
            return .skip
        }
        let isChanged = batch.change(entry, change, mayBeGone: true) {
            var shown: [UInt8] = []
            entry.appendPath(to: &shown)
            return ChangeBatch.Paths(shown: shown, absolute: root.absolutePath(of: shown))
        }
        if isChanged { count(entry) }
        return .descend(root)
    }

    mutating func cannotRead(_ error: FileError) { reporter.report(error) }

    mutating func finish() {
        reporter.finish()
        batch.finish()
        tally.add(counts)
    }

    private mutating func count(_ entry: borrowing TreeEntry) {
        guard entry.kind == .regularFile else { return }
        do throws(Errno) {
            counts.add(ChangeTally.Counts(changed: try entry.status()))
        } catch {
            // The file was removed together with its marks.
        }
    }
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
        }
    }

    private let total = Monitor(Counts())

    func add(_ counts: Counts) {
        total.withLock { $0.add(counts) }
    }

    func report(on changes: [MarkChange]) {
        let counts = total.withLock { $0 }
        if counts.skipped > 0 {
            let skipped = counted(
                counts.skipped, "link or special file", "links and special files")
            note("skipped \(skipped), which cannot have marks")
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
