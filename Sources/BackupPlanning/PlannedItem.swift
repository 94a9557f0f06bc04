import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

/// What a backup will do with one item.
public enum Disposition: Sendable, Hashable {
    /// Stored, for the reason the policy gives: nearly always that nothing excludes it.
    case stored(Exclusion)
    /// Left out. Of a directory the entry itself is stored, with its attributes, and its contents are
    /// left out.
    case leftOut(LeftOutReason)
}

/// One item of a plan, while the plan is being made.
public struct PlannedItem: ~Copyable {
    /// The absolute path's bytes.
    public let path: [UInt8]
    /// The kind of file.
    public let kind: FileKind
    /// The size in bytes; 0 unless it is a regular file.
    public let size: Int64
    /// What will be done with it.
    public let disposition: Disposition
}

/// Somebody who wants to hear of every item while a plan is made.
///
/// Every thread that plans has an observer of its own, used and finished on that thread.
public protocol PlanObserver: SendableMetatype {
    /// Whether stored items are wanted; a plan is made faster when they are not.
    var wantsStoredItems: Bool { get }

    /// Called for each item, in no order.
    mutating func note(_ item: borrowing PlannedItem)

    /// Called once, after the thread's last item.
    mutating func finish()
}

/// An observer that wants to hear nothing.
public struct NoPlanObserver: PlanObserver {
    /// Creates an observer.
    public init() {}

    /// false.
    public var wantsStoredItems: Bool { false }

    /// Does nothing.
    public func note(_ item: borrowing PlannedItem) {}

    /// Does nothing.
    public func finish() {}
}
