import ResourceValues
import StoragePolicy

/// All marks on one item, this package's and those of other programs.
public struct ItemMarks: Sendable, Hashable {
    /// This package's own marks.
    public var native: Marks
    /// The marks of other programs, limited to the chosen markers.
    public var foreign: ForeignMarks
    /// The record of an evicted file; nil on an ordinary item.
    public var eviction: EvictionRecord?

    /// Creates the marks of an item.
    public init(
        native: Marks = .none, foreign: ForeignMarks = .none, eviction: EvictionRecord? = nil
    ) {
        self.native = native
        self.foreign = foreign
        self.eviction = eviction
    }

    /// No marks.
    public static let none = ItemMarks()
}
