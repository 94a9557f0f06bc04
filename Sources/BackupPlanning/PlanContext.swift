import EffectiveValues
import StoragePolicy

/// What a directory passes to its entries while a plan is built. It is small, because it is copied
/// for every entry.
package struct PlanContext: Sendable {
    package let policy: PolicyContext
    /// The device number of the directory; nil above a source.
    package let device: UInt64?
    /// The source to visit; nil everywhere below.
    let source: PlanSource?
    /// The number of the source that the walk came from.
    let sourceNumber: UInt16

    /// Creates the context that a source is visited with.
    package init(source: EffectiveItem, number: UInt16 = 0) {
        policy = .empty
        device = nil
        sourceNumber = number
        self.source = PlanSource(source)
    }

    /// Creates the context of a directory's entries.
    package init(policy: PolicyContext, device: UInt64, sourceNumber: UInt16 = 0) {
        self.policy = policy
        self.device = device
        self.sourceNumber = sourceNumber
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
