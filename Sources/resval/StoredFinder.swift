import CommandSupport
import FileTree
import ResourceValues

/// Finds items by their stored marks; each thread of the walk has one.
struct StoredFinder: TreeVisitor {
    private let filter: FindFilter
    private let results: FoundWriter
    private var reporter: WalkReporter

    init(
        _ filter: FindFilter, _ results: FoundWriter, _ outcome: Outcome, _ progress: Progress
    ) {
        self.filter = filter
        self.results = results
        reporter = WalkReporter(outcome, progress)
    }

    mutating func visit(_ entry: borrowing TreeEntry, in context: Void) -> Descent<Void> {
        reporter.count()
        guard entry.kind.canStoreUserAttributes || entry.kind == .unknown else {
            return .descend(())
        }
        do throws(FileError) {
            let marks = try entry.marks()
            if !marks.isEmpty { found(marks, on: entry) }
        } catch {
            reporter.report(entry: error)
        }
        return .descend(())
    }

    mutating func cannotRead(_ error: FileError) { reporter.report(error) }

    mutating func finish() { results.finish() }

    private func found(_ marks: Marks, on entry: borrowing TreeEntry) {
        reporter.report(brokenIn: marks, at: entry)
        if filter.fits(marks) { results.write(entry, marks, nil) }
    }
}
