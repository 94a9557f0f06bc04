import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

/// What a backup will do with one item.
public enum Disposition: Sendable, Hashable {
    /// Stored, for the reason the policy gives: nearly always that nothing excludes it.
    case stored(Exclusion)
    /// Excluded. A directory's own entry is stored, with its attributes; its contents are excluded.
    case excluded(ExclusionReason)
}

/// One item of a plan that is being built.
public struct PlannedItem: ~Copyable {
    /// The absolute path's bytes.
    public let path: [UInt8]
    /// The status; of a directory the cached one.
    package let status: FileStatus
    /// What will be done with it.
    public let disposition: Disposition

    /// The kind of file.
    public var kind: FileKind { status.kind }
    /// The size in bytes; 0 unless it is a regular file.
    public var size: Int64 { kind == .regularFile ? status.size : 0 }
}

/// Receives each item while a plan is built.
///
/// Each planning thread has its own observer, used and finished on that thread.
public protocol PlanObserver: SendableMetatype {
    /// Whether stored items are wanted; a plan is built faster when they are not. Asked before the first
    /// item.
    var wantsStoredItems: Bool { get }

    /// Called for each item, in no particular order.
    mutating func note(_ item: borrowing PlannedItem)

    /// Called once, after the thread's last item.
    mutating func finish()
}

/// An observer that ignores all items.
public struct NoPlanObserver: PlanObserver {
    /// Creates an observer.
    public init() {}

    /// Always false.
    public var wantsStoredItems: Bool { false }

    /// Does nothing.
    public func note(_ item: borrowing PlannedItem) {}

    /// Does nothing.
    public func finish() {}
}
