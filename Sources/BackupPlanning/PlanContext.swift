import EffectiveValues
import StoragePolicy

/// What a directory passes to its entries while a plan is made.
struct PlanContext: Sendable {
    let policy: PolicyContext
    /// The device number of the directory; nil above a source.
    let device: UInt64?
    /// The source to visit; nil everywhere below.
    let source: EffectiveItem?

    init(source: EffectiveItem) {
        policy = .empty
        device = nil
        self.source = source
    }

    init(policy: PolicyContext, device: UInt64) {
        self.policy = policy
        self.device = device
        source = nil
    }
}
