import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

/// The context an item is visited with in a search for effective values.
enum EffectiveContext: Sendable {
    /// The item is a root with this decision.
    case root(Decision)
    /// The item is an entry of a directory that passes on this context, and whose size is added up
    /// if there is one.
    case entry(PolicyContext, TreeSize?)

    /// The size of the nearest directory above that is added up.
    var tree: TreeSize? {
        guard case .entry(_, let tree) = self else { return nil }
        return tree
    }
}

/// Finds items by their effective values; each thread of the walk has one.
struct EffectiveFinder: TreeVisitor {
    private let filter: FindFilter
    private let policy: StoragePolicy
    private let markReader: MarkReader
    private let results: FoundWriter
    private var reporter: WalkReporter

    init(
        _ filter: FindFilter, _ reader: EffectiveValueReader, _ results: FoundWriter,
        _ outcome: Outcome, _ progress: Progress
    ) {
        self.filter = filter
        policy = reader.policy
        markReader = reader.markReader
        self.results = results
        reporter = WalkReporter(outcome, progress)
    }

    mutating func visit(
        _ entry: borrowing TreeEntry, in context: EffectiveContext
    ) -> Descent<EffectiveContext> {
        reporter.count()
        var marks = ItemMarks.none
        do throws(FileError) {
            marks = try markReader.marks(of: entry, kind: entry.kind)
        } catch {
            reporter.report(entry: error)
            // Continues as if unmarked, because items below still inherit from directories above.
        }
        let decision = decide(entry, marks, in: context)
        reporter.report(brokenIn: marks.native, at: entry)
        if !marks.foreign.isReadable { reporter.report(decision.issues, of: entry) }
        var tree = context.tree
        let fits = filter.fits(decision, marks.native)
        if fits || tree != nil {
            tree = results.note(
                entry, fits ? (marks.native, decision) : nil, in: tree, reporter)
        }
        return .descend(.entry(decision.contextForEntries, tree))
    }

    mutating func cannotRead(_ error: FileError) { reporter.report(error) }

    mutating func finish() {
        reporter.finish()
        results.finish()
    }

    private func decide(
        _ entry: borrowing TreeEntry, _ marks: ItemMarks, in context: EffectiveContext
    ) -> Decision {
        switch context {
        case .root(let decision):
            return decision
        case .entry(let context, _):
            return policy.decide(
                marks.native, kind: entry.kind, in: context, foreignMarks: marks.foreign,
                name: entry.nameBytes, path: entry.path, linkCount: linkCount(of: entry),
                isMountRoot: isMountRoot(entry))
        }
    }

    /// Returns the number of hard links; nil when unknown, which keeps the file in backups.
    private func linkCount(of entry: borrowing TreeEntry) -> Int? {
        do throws(Errno) {
            return try entry.status().linkCount
        } catch {
            return nil
        }
    }

    /// Returns whether the entry is a mount point; true when unknown, which keeps the directory in
    /// backups.
    private func isMountRoot(_ entry: borrowing TreeEntry) -> Bool {
        do throws(Errno) {
            return try entry.status().isMountRoot ?? true
        } catch {
            return true
        }
    }
}

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

    mutating func visit(
        _ entry: borrowing TreeEntry, in tree: TreeSize?
    ) -> Descent<TreeSize?> {
        reporter.count()
        let canHaveMarks = entry.kind.canStoreUserAttributes || entry.kind == .unknown
        let hasMarks = canHaveMarks && entry.mayHaveMarks()
        guard hasMarks || tree != nil else { return .descend(nil) }
        let found = hasMarks ? fittingMarks(of: entry) : nil
        guard found != nil || tree != nil else { return .descend(nil) }
        return .descend(results.note(entry, found.map { ($0, nil) }, in: tree, reporter))
    }

    /// Returns the marks of an entry if the filter accepts them, after a report of what is broken.
    private func fittingMarks(of entry: borrowing TreeEntry) -> Marks? {
        do throws(FileError) {
            let marks = try entry.marks()
            guard !marks.isEmpty else { return nil }
            reporter.report(brokenIn: marks, at: entry)
            return filter.fits(marks) ? marks : nil
        } catch {
            reporter.report(entry: error)
            return nil
        }
    }

    mutating func cannotRead(_ error: FileError) { reporter.report(error) }

    mutating func finish() {
        reporter.finish()
        results.finish()
    }
}
