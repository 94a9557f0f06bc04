import EffectiveValues
import SystemCalls

/// All records of a journal, as stored in one of its two slots.
struct JournalContents {
    let sequence: UInt64
    let records: [AsideRecord]

    init(sequence: UInt64, records: [AsideRecord]) {
        self.sequence = sequence
        self.records = records
    }

    /// Whether the other slot was written later. The sequence number may wrap around to 0.
    func isOlder(than other: JournalContents) -> Bool {
        Int64(bitPattern: other.sequence &- sequence) > 0
    }

    /// Parses a slot; nil when it is empty or was not written completely.
    init?(_ bytes: [UInt8]) {
        var head = JournalReader(bytes[...])
        guard let version = head.number().flatMap({ JournalVersion(rawValue: $0) }),
            let check = head.number(), let body = head.text(),
            checksum(body) == check
        else { return nil }
        var reader = JournalReader(body[...], version)
        guard let sequence = reader.number(), let count = reader.number() else { return nil }
        var records: [AsideRecord] = []
        for _ in 0..<count {
            guard let record = reader.record() else { return nil }
            records.append(record)
        }
        self.init(sequence: sequence, records: records)
    }

    /// Returns the bytes of the slot; nil when there are more than the limit.
    func bytes(upTo limit: Int) -> [UInt8]? {
        var body = JournalWriter()
        body.add(sequence)
        body.add(UInt64(records.count))
        for record in records { body.add(record) }
        var place = JournalWriter()
        place.add(JournalVersion.current.rawValue)
        place.add(checksum(body.bytes))
        place.add(body.bytes)
        return place.bytes.count <= limit ? place.bytes : nil
    }
}

/// The magic number at the start of a slot, which determines the format of its records.
enum JournalVersion: UInt64 {
    /// `resvalp1`: files are identified by device and inode.
    case first = 0x3170_6c61_7673_6572
    /// `resvalp2`: files are identified by what remains the same when a filesystem is mounted
    /// again.
    case current = 0x3270_6c61_7673_6572
}

/// Returns the 64-bit FNV-1a hash.
private func checksum(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}

/// The journal's record of a directory that was moved aside to be deleted.
struct AsideRecord: Sendable, Hashable {
    /// How far the removal got.
    enum State: UInt64, Sendable {
        /// The directory was moved aside, or is about to be. After a crash it gets its name back.
        case aside = 1
        /// The directory was examined again and may be deleted. After a crash its removal is
        /// finished.
        case deleting = 2
    }

    var state: State
    /// The identity of the directory.
    let identity: PersistentIdentity
    /// The identity of its parent directory.
    let parent: PersistentIdentity
    let parentPath: [UInt8]
    /// The original name.
    let name: [UInt8]
    /// The name it was moved to.
    let asideName: [UInt8]
    /// The latest inode change time below the directory: anything newer was added or changed since.
    let newestChange: FileTime
    /// The inodes whose times the removal changes before it removes them: those of the directories,
    /// the top one included, and of files with several hard links. nil in state `aside`, and when
    /// there are too many for the journal.
    var knownInodes: Set<UInt64>?

    /// The original path.
    var path: [UInt8] { parentPath + [UInt8(ascii: "/")] + name }

    /// The path it was moved to.
    var asidePath: [UInt8] { parentPath + [UInt8(ascii: "/")] + asideName }
}

/// The names of directories that are moved aside.
enum AsideName {
    static let prefix = Array(".resval-purge-".utf8)

    /// Returns a name that cannot be predicted.
    static func make() -> [UInt8] {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        return prefix + Array((String(repeating: "0", count: 16 - number.count) + number).utf8)
    }

    static func matches(_ name: some Collection<UInt8>) -> Bool { name.starts(with: prefix) }
}
