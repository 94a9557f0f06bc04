import EffectiveValues
import StoragePolicy

/// What a directory passes to its entries while a plan is built. It is small, because it is copied
/// for every entry.
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

/// The decision on a source, as an object that a context can refer to.
final class PlanSource: Sendable {
    let decision: Decision

    init(_ item: EffectiveItem) {
        decision = item.decision
    }
}
