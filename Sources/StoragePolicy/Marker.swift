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
    /// The attribute `user.duplicati.exclude`, with any value.
    case duplicati
    /// The attribute `user.duplicacy_exclude`, with any value.
    case duplicacy
    /// A rule for directories that a tool deletes and makes again.
    case rules
    /// The ignore rules of git, inside a work tree.
    case gitignore

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
        case .duplicati: "the attribute user.duplicati.exclude"
        case .duplicacy: "the attribute user.duplicacy_exclude"
        case .rules: "a rule for what tools re-create"
        case .gitignore: "an ignore rule of git"
        }
    }

    /// Orders markers by precedence: if several apply, the first is reported.
    public static func < (first: Marker, second: Marker) -> Bool {
        first.rank < second.rank
    }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// What shows that a tool makes a directory again after it was deleted.
public struct Recreation: Sendable, Hashable {
    /// The directory's name and its proof, such as `node_modules beside package.json`.
    public let proof: String
    /// What makes it again, such as `npm install`.
    public let tool: String
    /// Why nothing is lost with it.
    public let reason: String

    /// Creates a recreation.
    public init(proof: String, tool: String, reason: String) {
        self.proof = proof
        self.tool = tool
        self.reason = reason
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
    /// The rule that excludes the item; nil unless ``excluding`` contains ``Marker/rules``.
    public var recreation: Recreation?
    /// The markers that would exclude the item but for a reason, in words, why that is not certain.
    /// They count as absent, so the item is backed up, and are reported.
    public var uncertain: [Marker: String]

    /// Creates the marks found on an item.
    public init(
        excluding: Set<Marker> = [], including: Set<Marker> = [],
        unreadable: [Marker: Errno] = [:], recreation: Recreation? = nil,
        uncertain: [Marker: String] = [:]
    ) {
        self.excluding = excluding
        self.including = including
        self.unreadable = unreadable
        self.recreation = recreation
        self.uncertain = uncertain
    }

    /// No foreign marks.
    public static let none = ForeignMarks()

    /// Whether there is nothing to apply and nothing to report.
    @inlinable
    public var isEmpty: Bool {
        excluding.isEmpty && including.isEmpty && unreadable.isEmpty && uncertain.isEmpty
    }

    /// Whether all marks could be read, and are certain.
    package var isReadable: Bool { unreadable.isEmpty && uncertain.isEmpty }

    /// Returns the reason for which a foreign mark excludes the item; nil if none does.
    ///
    /// - Parameter markers: the markers that count.
    public func exclusion(among markers: Set<Marker>) -> ExclusionCause? {
        guard !excluding.isEmpty,
            let first = excluding.intersection(markers).subtracting([.native]).min()
        else { return nil }
        if first == .rules, let recreation { return .recreatable(recreation) }
        return .marker(first)
    }
}
