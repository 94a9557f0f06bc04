import CommandSupport
import FileTree
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// Changes everything below a directory; each thread of the walk has one.
struct ChangeVisitor: TreeVisitor {
    private let changes: [MarkChange]
    private let tally: ChangeTally
    private var reporter: WalkReporter
    private var counts = ChangeTally.Counts()

    init(
        _ changes: [MarkChange], _ tally: ChangeTally, _ outcome: Outcome, _ progress: Progress
    ) {
        self.changes = changes
        self.tally = tally
        reporter = WalkReporter(outcome, progress)
    }

    mutating func visit(_ entry: borrowing TreeEntry, in context: Void) -> Descent<Void> {
        reporter.count()
        // An item named on the command line that cannot store marks is an error, not skipped.
        guard entry.depth == 0 || entry.kind.canStoreUserAttributes || entry.kind == .unknown
        else {
            counts.skipped += 1
            return .skip
        }
        do throws(FileError) {
            try entry.apply(changes)
            if entry.kind == .regularFile { count(entry) }
        } catch {
            reporter.report(entry: error.explained(on: entry))
        }
        return .descend(())
    }

    mutating func cannotRead(_ error: FileError) { reporter.report(error) }

    mutating func finish() { tally.add(counts) }

    private mutating func count(_ entry: borrowing TreeEntry) {
        counts.files += 1
        do throws(Errno) {
            if try entry.status().linkCount > 1 { counts.hardLinked += 1 }
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
    }

    private let total = Monitor(Counts())

    func add(_ counts: Counts) {
        total.withLock { total in
            total.skipped += counts.skipped
            total.files += counts.files
            total.hardLinked += counts.hardLinked
        }
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
