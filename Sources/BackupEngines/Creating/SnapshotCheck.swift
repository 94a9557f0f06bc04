import BackupPlanning
import SystemCalls
import TextFormats

/// Judges the items of a second walk, made when restic has ended, by those of the first and by what
/// restic named.
struct SnapshotCheck: Sendable {
    /// What is known about an item of the second walk.
    enum Verdict: Sendable, Hashable {
        /// In the snapshot, and in the same state at both walks.
        case stored
        /// In the snapshot, and in another state at the second walk.
        case changed
        /// Not in the snapshot, although it was there all the time.
        case missing
        /// A directory on another device, or another inode of the same device.
        case replaced(isOnSameDevice: Bool)
        /// New, or of a kind that restic does not name.
        case unknown
    }

    private let named: NamedItems
    /// The identities of the items that restic should have named and did not.
    private let unnamed: Set<UInt32>
    private var manifest: PlanManifest { named.manifest }

    init(_ named: NamedItems) {
        self.named = named
        unnamed = Set(named.unnamedItems.map { named.manifest.entries[$0].identity })
    }

    /// Returns what is known about an item of the second walk, and notes in `seen` what shows that
    /// items of the first walk did not vanish.
    func verdict(
        on path: [UInt8], _ now: PlanManifest.Entry, noting seen: inout SeenItems
    ) -> Verdict {
        let isKnown = unnamed.contains(now.identity)
        if isKnown { seen.identities.insert(now.identity) }
        guard let index = manifest.index(of: now.path) else {
            // restic met it neither here nor where it was.
            let isLost = isKnown && now.isNamed && !named.contains(printed: printedName(path))
            return isLost ? .missing : .unknown
        }
        let before = manifest.entries[index]
        guard before.isNamed else { return .unknown }
        if !named.contains(at: index) {
            seen.items.insert(index)
            // As another kind, it may be stored without being named.
            return now.isNamed ? .missing : .changed
        }
        if before.kind == .directory {
            return now.kind == .directory && now.state == before.state
                ? .stored : .replaced(isOnSameDevice: now.device == before.device)
        }
        return now.kind == .regularFile && now.state == before.state ? .stored : .changed
    }

    /// Returns the number of items of each SOURCE, and of those that vanished before restic came to
    /// them.
    func vanished(_ seen: SeenItems) -> [UInt16: (items: Int, vanished: Int)] {
        var counts: [UInt16: (items: Int, vanished: Int)] = [:]
        for (index, entry) in manifest.entries.enumerated() where entry.isNamed {
            let isGone =
                !named.contains(at: index) && !seen.items.contains(index)
                && !seen.identities.contains(entry.identity)
            let count = counts[entry.source] ?? (0, 0)
            counts[entry.source] = (count.items + 1, count.vanished + (isGone ? 1 : 0))
        }
        return counts
    }

    /// Whether an item was planned as a regular file.
    func wasFile(_ item: PlanManifest.Entry) -> Bool {
        manifest.index(of: item.path).map { manifest.entries[$0].kind == .regularFile } ?? false
    }
}

/// The items that restic did not name and the second walk found: by the index of the same path, or by
/// the identity under any path.
struct SeenItems: Sendable {
    var items: Set<Int> = []
    var identities: Set<UInt32> = []

    mutating func add(_ other: SeenItems) {
        items.formUnion(other.items)
        identities.formUnion(other.identities)
    }
}

extension NamedItems {
    /// The indices of the items that restic should have named and did not.
    fileprivate var unnamedItems: some Sequence<Int> {
        manifest.entries.indices.lazy.filter { manifest.entries[$0].isNamed && !contains(at: $0) }
    }
}
