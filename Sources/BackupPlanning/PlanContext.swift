import EffectiveValues
import StoragePolicy

/// What a directory passes to its entries while a plan is made. It is copied for every entry, so it
/// is small.
struct PlanContext: Sendable {
    let policy: PolicyContext
    /// The device number of the directory; nil above a source.
    let device: UInt64?
    /// The source to visit; nil everywhere below.
    let source: PlanSource?

    init(source: EffectiveItem) {
        policy = .empty
        device = nil
        self.source = PlanSource(source)
    }

    init(policy: PolicyContext, device: UInt64) {
        self.policy = policy
        self.device = device
        source = nil
    }
}

/// A source with the decision on it, to be pointed at.
final class PlanSource: Sendable {
    let decision: Decision

    init(_ item: EffectiveItem) {
        decision = item.decision
    }
}
