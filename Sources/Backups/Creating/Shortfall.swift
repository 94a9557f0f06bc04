import BackupPlanning
import SystemCalls
import SystemPackage

/// An item that should be in a snapshot but is missing from it, or differs from the item on disk.
package struct Shortfall: Sendable, Hashable {
    /// The path's bytes; bytes that the engine could not report are 0xFF.
    package let path: [UInt8]
    package let cause: Cause

    package struct Cause: Sendable, Hashable {
        package let name: String
        /// What happened, in words, and what to do about it.
        package let sentence: String
        /// Whether content is missing that is on the disk, and not only what describes it.
        let lacksContent: Bool
        /// Whether it can be the same at each backup with nothing wrong on the machine, such as another
        /// user's private file. A device that fails, and what came of the moment, are news each time.
        package let canLast: Bool
        /// The name where the content was evicted into another repository. That can last only while an
        /// earlier snapshot has it, or once that it does not was accepted.
        package static let elsewhereName = "evicted-elsewhere"

        private init(
            _ name: String, _ sentence: String, lacksContent: Bool = true, canLast: Bool = false
        ) {
            (self.name, self.sentence) = (name, sentence)
            (self.lacksContent, self.canLast) = (lacksContent, canLast)
        }
    }
}

extension Shortfall.Cause {
    static func unreadable(_ error: Errno) -> Self {
        Self(
            "unreadable",
            "cannot be read and is not in the snapshot: \(error) "
                + (error == .ioError
                    ? "(check the device: dmesg, then fsck; an older snapshot may have the file)"
                    : "(run as a user who may read it, or exclude it)"),
            canLast: error == .permissionDenied || error == .notPermitted)
    }

    /// It could not be inspected when the plan was made.
    static func unplanned(_ reason: String, canLast: Bool) -> Self {
        Self("unplanned", "is not in the snapshot: \(reason)", canLast: canLast)
    }

    /// It is stored as it is, and shows signs of an eviction.
    static func eviction(_ sentence: String) -> Self { Self("eviction", sentence) }

    static func elsewhere(_ reason: String) -> Self {
        Self(elsewhereName, "is not in the snapshot: \(reason)", canLast: true)
    }

    static let locked = Self(
        "locked",
        "is encrypted, and its key is not there, so nothing in it is in the snapshot (unlock it, for "
            + "example by logging in as its owner, or: fscrypt unlock)", canLast: true)

    static let tooLong = Self(
        "too-long",
        "is not in the snapshot: its path is longer than the backup tool can open "
            + "(keep it nearer to the root of its filesystem)", canLast: true)

    /// More than 20 % of the items of this SOURCE vanished before they were read.
    static func vanished(_ count: Int, of total: Int) -> Self {
        Self(
            "vanished",
            "\(count) of its \(counted(total, "item")) vanished while the backup ran (if they were not "
                + "to go: look whether a filesystem was unmounted, and run the backup again)")
    }

    static let replaced = Self(
        "replaced",
        "was replaced by another directory while the backup ran, so what was in it may not be in "
            + "the snapshot (if a filesystem was mounted or unmounted: run the backup again)")

    static let evicted = Self(
        "evicted",
        "was evicted while the backup ran, and may be in the snapshot without its content "
            + "(run the backup again)")

    static let missingSource = Self(
        "missing-source", "is a SOURCE, and does not exist", lacksContent: false)

    static let missing = Self(
        "missing", "is not in the snapshot, although it was there (run the backup again)")

    static let timeLost = Self(
        "time-lost",
        "is in the snapshot with another time: the backup tool stores only years 0 to 9999 "
            + "(give it such a time: touch -h)", lacksContent: false, canLast: true)

    static func attributes(_ reason: String) -> Self {
        Self(
            "attributes", "is in the snapshot without some of its attributes: \(reason)",
            lacksContent: false)
    }

    /// restic could not store it.
    static func refused(_ reason: String) -> Self {
        Self("refused", "could not be stored: \(reason)")
    }
}

extension PlanNotice {
    /// Whether it can be the same at each backup, as ``Shortfall/Cause/canLast`` says.
    var canLast: Bool {
        switch matter {
        case .unreadable(let error): error.code == .permissionDenied
        default: false
        }
    }
}

/// Collects shortfalls from several sources: each path once, with the best known cause.
struct ShortfallList {
    private var causes: [[UInt8]: Shortfall.Cause] = [:]
    /// The mount points that the backup does not enter.
    private let mounts: [[UInt8]]

    init(_ plan: BackupPlan) {
        mounts = plan.exclusions.filter { if case .mount = $0.reason { true } else { false } }
            .map(\.path.bytes)
        for notice in plan.notices where notice.isShortfall {
            causes[notice.path.bytes] =
                switch notice.matter {
                case .unreadable where plan.isOfMissing(notice): .missingSource
                case .unreadable(let error) where error.code == .locked: .locked
                case .eviction: .eviction(notice.sentence)
                case .attributeName: .attributes("one has a name that is not UTF-8")
                case .missing(_, isElsewhere: true): .elsewhere(notice.sentence)
                default: .unplanned(notice.sentence, canLast: notice.canLast)
                }
        }
        for item in plan.exclusions where item.reason.isShortfall {
            causes[item.path.bytes] =
                item.reason == .tooLong
                ? .tooLong : .unplanned(item.reason.sentence, canLast: true)
        }
    }

    mutating func add(_ shortfalls: [Shortfall]) {
        for shortfall in shortfalls where causes[shortfall.path] == nil {
            causes[shortfall.path] = shortfall.cause
        }
    }

    /// Adds the items that restic complained about, by their exact names where these are known. Its
    /// error for an unreadable item takes precedence: it tells why the item is missing. What it says of
    /// locked directories and of mounts that the backup does not enter counts for nothing.
    mutating func add(complaints errors: ErrorOutput, _ named: NamedItems, _ sources: [FilePath]) {
        let locked = causes.filter { $0.value == .locked }.map(\.key)
        let unentered = PathSet((mounts + locked).map { printedName($0) })
        for item in errors.items {
            let path = knownPath(item.name)
            let isOther = unentered.contains(item.name) || isAbove(item.name, sources)
            if isOther && !named.mayBeInexact(item.name) || isGone(path) { continue }
            let (cause, isUnread) = cause(item, isStored: named.contains(printed: item.name))
            let known = causes[path]
            if known == nil || known == .missing && isUnread { causes[path] = cause }
        }
        // Of these nothing is known but their number.
        guard let source = sources.first, errors.droppedItemCount > 0 else { return }
        let reason = "restic complained about \(counted(errors.droppedItemCount, "more item"))"
        add([Shortfall(path: source.bytes, cause: .refused(reason))])
    }

    private func cause(
        _ item: ErrorOutput.Item, isStored: Bool
    ) -> (Shortfall.Cause, isUnread: Bool) {
        if isStored { return (.attributes(item.message), false) }
        guard let errno = item.errno else { return (.refused(item.message), false) }
        // It was moved here since, or only seemed to be gone.
        return errno == .noSuchFileOrDirectory ? (.missing, false) : (.unreadable(errno), true)
    }

    /// Whether a path is that of a directory above a SOURCE, which is no item of the backup.
    private func isAbove(_ path: [UInt8], _ sources: [FilePath]) -> Bool {
        sources.contains { $0.bytes != path && isHeld(printedName($0.bytes), by: path) }
    }

    private func isGone(_ path: [UInt8]) -> Bool {
        // The exact path may be another. What cannot be looked at may be there, and its complaint stays.
        !path.contains(JSONScanner.lostByte)
            && (try? itemExists(FilePath(bytes: path).withoutFollowing)) == false
    }

    var sorted: [Shortfall] {
        causes.map { Shortfall(path: $0.key, cause: $0.value) }
            .sorted { $0.path.lexicographicallyPrecedes($1.path) }
    }

    /// Returns the exact path for a name that an engine reports without some of its bytes; the name
    /// itself when no path is known.
    private func knownPath(_ name: [UInt8]) -> [UInt8] {
        guard name.contains(JSONScanner.lostByte) else { return name }
        return causes.keys.first { known in
            known.count == name.count
                && zip(name, known).allSatisfy { $0 == $1 || $0 == JSONScanner.lostByte }
        } ?? name
    }
}
