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
    /// The item is an entry of a directory that passes on this context.
    case entry(PolicyContext)
}

/// Finds items by their effective values; each thread of the walk has one.
struct EffectiveFinder: TreeVisitor {
    private let filter: FindFilter
    private let policy: StoragePolicy
    private let markReader: MarkReader
    private let results: FoundWriter
    private var reporter: WalkReporter

    init(
        _ filter: FindFilter, _ policy: StoragePolicy, _ results: FoundWriter,
        _ outcome: Outcome, _ progress: Progress
    ) {
        self.filter = filter
        self.policy = policy
        markReader = MarkReader(policy.markers)
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
        if !marks.foreign.unreadable.isEmpty { report(decision.issues, of: entry) }
        if filter.fits(decision, marks.native) { results.write(entry, marks.native, decision) }
        return .descend(.entry(decision.contextForEntries))
    }

    mutating func cannotRead(_ error: FileError) { reporter.report(error) }

    mutating func finish() { results.finish() }

    private func decide(
        _ entry: borrowing TreeEntry, _ marks: ItemMarks, in context: EffectiveContext
    ) -> Decision {
        switch context {
        case .root(let decision):
            return decision
        case .entry(let context):
            return policy.decide(
                marks.native, kind: entry.kind, in: context, foreignMarks: marks.foreign,
                name: entry.nameBytes, path: entry.path, linkCount: linkCount(of: entry),
                isMountRoot: isMountRoot(entry))
        }
    }

    private func report(_ issues: [PolicyIssue], of entry: borrowing TreeEntry) {
        for issue in issues {
            guard case .unreadableMarker(_, let errno) = issue else { continue }
            reporter.report(
                FileError(
                    code: .other, message: issue.sentence, path: entry.path, errno: errno))
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
