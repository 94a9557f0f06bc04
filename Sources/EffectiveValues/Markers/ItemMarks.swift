import ResourceValues
import StoragePolicy

/// All marks on one item, of this package and of other programs.
public struct ItemMarks: Sendable, Hashable {
    /// This package's own marks.
    public var native: Marks
    /// The marks of other programs, those that were chosen.
    public var foreign: ForeignMarks

    /// Creates what was found on an item.
    public init(native: Marks = .none, foreign: ForeignMarks = .none) {
        self.native = native
        self.foreign = foreign
    }

    /// No marks.
    public static let none = ItemMarks()
}
