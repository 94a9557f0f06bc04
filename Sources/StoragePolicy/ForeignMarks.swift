/// The marks of other programs on one item, as whoever reads them understood them.
///
/// Reading them from disk is not part of this module.
public struct ForeignMarks: Sendable, Hashable {
    /// The markers that say: leave it out.
    public var excluding: Set<Marker>
    /// The markers that say: back it up (`xdg` with the value `true`).
    public var including: Set<Marker>

    /// Creates the marks found on an item.
    public init(excluding: Set<Marker> = [], including: Set<Marker> = []) {
        self.excluding = excluding
        self.including = including
    }

    /// No foreign marks.
    public static let none = ForeignMarks()

    /// Whether there are none.
    @inlinable
    public var isEmpty: Bool { excluding.isEmpty && including.isEmpty }
}
