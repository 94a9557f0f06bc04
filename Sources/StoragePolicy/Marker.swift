import SystemPackage

/// A kind of mark that decides whether an item is backed up, by its name in options.
public enum Marker: String, Sendable, Hashable, CaseIterable, Comparable {
    /// This package's own mark.
    case native
    /// Apple's exclusion attribute, as rsync, netatalk and Samba store it.
    case apple
    /// `user.xdg.robots.backup`.
    case xdg
    /// The nodump inode flag.
    case nodump
    /// A file `CACHEDIR.TAG` in the directory.
    case cachedir
    /// A file `.nobackup` in the directory.
    case nobackup

    /// The markers that count by default.
    public static let defaultSet: Set<Marker> = [.native, .apple, .xdg]

    /// The mark in words.
    public var meaning: String {
        switch self {
        case .native: "its mark"
        case .apple: "Apple's backup attribute"
        case .xdg: "the attribute user.xdg.robots.backup"
        case .nodump: "the nodump flag"
        case .cachedir: "a CACHEDIR.TAG in it"
        case .nobackup: "a .nobackup in it"
        }
    }

    /// Orders markers by precedence: if several apply, the first is reported.
    public static func < (first: Marker, second: Marker) -> Bool {
        first.rank < second.rank
    }

    private var rank: Int {
        switch self {
        case .native: 0
        case .apple: 1
        case .xdg: 2
        case .nodump: 3
        case .cachedir: 4
        case .nobackup: 5
        }
    }
}

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
