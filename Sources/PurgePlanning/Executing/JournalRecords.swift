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
        guard head.number() == magicNumber, let check = head.number(), let body = head.text(),
            checksum(body) == check
        else { return nil }
        var reader = JournalReader(body[...])
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
        place.add(magicNumber)
        place.add(checksum(body.bytes))
        place.add(body.bytes)
        return place.bytes.count <= limit ? place.bytes : nil
    }
}

/// The number at the start of a slot, `resvalp2`, which determines the format of its records.
private let magicNumber: UInt64 = 0x3270_6c61_7673_6572

private func checksum(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}

/// The journal's record of a directory that was moved aside to be deleted.
struct AsideRecord: Sendable, Hashable {
    enum State: UInt64, Sendable {
        /// The directory was moved aside, or is about to be. After a crash it gets its name back.
        case aside = 1
        /// The directory was examined again and may be deleted. After a crash its removal is
        /// finished.
        case deleting = 2
    }

    var state: State
    let identity: PersistentIdentity
    let parent: PersistentIdentity
    let parentPath: [UInt8]
    let name: [UInt8]
    let asideName: [UInt8]
    /// The latest inode change time below the directory: anything newer was added or changed since.
    let newestChange: FileTime
    /// The inodes whose times the removal changes before it removes them: those of the directories,
    /// the top one included, and of files with several hard links. nil in state `aside`, and when
    /// there are too many for the journal.
    var knownInodes: Set<UInt64>?

    var path: [UInt8] { parentPath + [UInt8(ascii: "/")] + name }

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

/// Encodes records: integers as 8 bytes in little-endian order, and byte strings after their
/// length.
struct JournalWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func add(_ text: [UInt8]) {
        add(UInt64(text.count))
        bytes += text
    }

    mutating func add(_ identity: PersistentIdentity) {
        switch identity.filesystem {
        case .device(let device):
            add(0)
            add(device)
        case .named(let name):
            add(1)
            add(name)
        }
        add(identity.inode)
        add(identity.creationTime == nil ? 0 : 1)
        if let time = identity.creationTime { add(time) }
    }

    mutating func add(_ time: FileTime) {
        add(UInt64(bitPattern: time.seconds))
        add(UInt64(time.nanoseconds))
    }

    mutating func add(_ record: AsideRecord) {
        add(record.state.rawValue)
        add(record.identity)
        add(record.parent)
        add(record.parentPath)
        add(record.name)
        add(record.asideName)
        add(record.newestChange)
        add(record.knownInodes)
    }

    /// Inodes follow a flag, 0 for nil and 1 otherwise, and their count.
    private mutating func add(_ inodes: Set<UInt64>?) {
        add(inodes == nil ? 0 : 1)
        guard let inodes else { return }
        add(UInt64(inodes.count))
        for inode in inodes { add(inode) }
    }
}

/// Decodes what a ``JournalWriter`` encoded. Every part is nil when the bytes end early or are
/// invalid.
struct JournalReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func number() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        let number = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest = rest.dropFirst(8)
        return number
    }

    mutating func text() -> [UInt8]? {
        guard let count = number(), count <= UInt64(rest.count) else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return Array(rest.prefix(Int(count)))
    }

    mutating func identity() -> PersistentIdentity? {
        guard let filesystem = filesystem(), let inode = number(), let hasTime = number() else {
            return nil
        }
        guard hasTime == 1 else {
            guard hasTime == 0 else { return nil }
            return PersistentIdentity(filesystem: filesystem, inode: inode, creationTime: nil)
        }
        guard let time = time() else { return nil }
        return PersistentIdentity(filesystem: filesystem, inode: inode, creationTime: time)
    }

    private mutating func filesystem() -> PersistentIdentity.Filesystem? {
        switch number() {
        case 0: number().map { .device($0) }
        case 1: text().map { .named($0) }
        default: nil
        }
    }

    mutating func time() -> FileTime? {
        guard let seconds = number(), let nanoseconds = number(), nanoseconds < 1_000_000_000
        else { return nil }
        return FileTime(seconds: Int64(bitPattern: seconds), nanoseconds: UInt32(nanoseconds))
    }

    mutating func record() -> AsideRecord? {
        guard let state = number().flatMap({ AsideRecord.State(rawValue: $0) }),
            let identity = identity(), let parent = self.identity(), let parentPath = text(),
            let name = text(), let asideName = text(), let newestChange = time(),
            let knownInodes = inodes(),
            parentPath.isEmpty || RelativePath(absolute: parentPath) != nil,
            RelativePath(name)?.names.count == 1, RelativePath(asideName)?.names.count == 1,
            AsideName.matches(asideName)
        else { return nil }
        return AsideRecord(
            state: state, identity: identity, parent: parent, parentPath: parentPath, name: name,
            asideName: asideName,
            newestChange: newestChange, knownInodes: knownInodes)
    }

    private mutating func inodes() -> Set<UInt64>?? {
        switch number() {
        case 0: return .some(nil)
        case 1: break
        default: return nil
        }
        guard let count = number(), count <= UInt64(rest.count / 8) else { return nil }
        var inodes: Set<UInt64> = []
        for _ in 0..<count {
            guard let inode = number() else { return nil }
            inodes.insert(inode)
        }
        return inodes
    }
}
