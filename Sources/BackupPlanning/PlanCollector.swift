import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The findings of one thread.
struct PlanPart: Sendable {
    var exclusions: [ExcludedItem] = []
    var notices: [PlanNotice] = []
    var totals = PlanTotals()
    var manifest: PlanManifest?
    /// The directories that were read; empty without a manifest.
    var walked = WalkedDirectories()
    var protectedItems: [ProtectedItem] = []
    var attributedItems: [AttributedItem] = []

    mutating func add(_ other: PlanPart) {
        exclusions += other.exclusions
        notices += other.notices
        totals.add(other.totals)
        protectedItems += other.protectedItems
        attributedItems += other.attributedItems
        walked.append(contentsOf: other.walked)
        if let found = other.manifest { manifest?.append(contentsOf: found) }
    }
}

/// Joins the findings of the threads of a walk.
final class PlanCollector: Sendable {
    let makesManifest: Bool
    private let whole: Monitor<PlanPart>

    init(makesManifest: Bool) {
        self.makesManifest = makesManifest
        whole = Monitor(PlanPart(manifest: makesManifest ? PlanManifest() : nil))
    }

    func add(_ part: PlanPart) {
        whole.withLock { $0.add(part) }
    }

    /// The directories that were read.
    var walked: WalkedDirectories { whole.withLock { $0.walked } }

    func plan(for sources: [EffectiveItem]) -> BackupPlan {
        var part = whole.withLock { $0 }
        part.manifest?.finish()
        // Sources with a common ancestor report the same issues.
        part.notices += Set(
            sources.flatMap(\.ancestorIssues).map {
                PlanNotice(path: $0.path, matter: .issue($0.issue))
            })
        var plan = BackupPlan(sources: sources.map(\.path))
        plan.exclusions = part.exclusions.sorted { $0.path.precedes($1.path) }
        plan.notices = part.notices.sorted { $0.path.precedes($1.path) }
        plan.totals = part.totals
        plan.attributedItems = part.attributedItems.sorted { $0.path.precedes($1.path) }
        plan.protectedItems = part.protectedItems.sorted { $0.path.precedes($1.path) }
        plan.manifest = part.manifest
        return plan
    }
}
