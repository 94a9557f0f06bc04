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
