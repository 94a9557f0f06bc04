import SystemPackage

/// The marks of other programs on one item, as interpreted by their reader.
///
/// This module does not read them from disk.
public struct ForeignMarks: Sendable, Hashable {
    /// The markers that exclude the item.
    public var excluding: Set<Marker>
    /// The markers that include the item (`xdg` with the value `true`).
    public var including: Set<Marker>
    /// The markers that may exist but could not be read, with the errno (`EACCES`, `EIO`). They
    /// count as absent, so the item is backed up, and are reported.
    public var unreadable: [Marker: Errno]

    /// Creates the marks found on an item.
    public init(
        excluding: Set<Marker> = [], including: Set<Marker> = [],
        unreadable: [Marker: Errno] = [:]
    ) {
        self.excluding = excluding
        self.including = including
        self.unreadable = unreadable
    }

    /// No foreign marks.
    public static let none = ForeignMarks()

    /// Whether there is nothing to apply and nothing to report.
    @inlinable
    public var isEmpty: Bool { excluding.isEmpty && including.isEmpty && unreadable.isEmpty }
}
