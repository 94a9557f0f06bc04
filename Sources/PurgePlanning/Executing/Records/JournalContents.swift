/// All records of a journal, as one of its two places holds them.
struct JournalContents {
    let sequence: UInt64
    let records: [AsideRecord]

    init(sequence: UInt64, records: [AsideRecord]) {
        self.sequence = sequence
        self.records = records
    }

    /// Whether the other was written later. The number may start again at 0.
    func isOlder(than other: JournalContents) -> Bool {
        Int64(bitPattern: other.sequence &- sequence) > 0
    }

    /// Reads a place; nil when it holds nothing, or was not written to its end.
    init?(_ bytes: [UInt8]) {
        var head = RecordReader(bytes[...])
        guard let version = head.number().flatMap({ JournalVersion(rawValue: $0) }),
            let check = head.number(), let body = head.text(),
            checksum(body) == check
        else { return nil }
        var reader = RecordReader(body[...], version)
        guard let sequence = reader.number(), let count = reader.number() else { return nil }
        var records: [AsideRecord] = []
        for _ in 0..<count {
            guard let record = reader.record() else { return nil }
            records.append(record)
        }
        self.init(sequence: sequence, records: records)
    }

    /// What a place holds; nil when that takes more than a number of bytes.
    func bytes(upTo limit: Int) -> [UInt8]? {
        var body = RecordWriter()
        body.add(sequence)
        body.add(UInt64(records.count))
        for record in records { body.add(record) }
        var place = RecordWriter()
        place.add(JournalVersion.current.rawValue)
        place.add(checksum(body.bytes))
        place.add(body.bytes)
        return place.bytes.count <= limit ? place.bytes : nil
    }
}

/// What a place begins with, which tells the form of its records.
enum JournalVersion: UInt64 {
    /// `resvalp1`: files are known by device and inode number.
    case first = 0x3170_6c61_7673_6572
    /// `resvalp2`: files are known by what stays the same.
    case current = 0x3270_6c61_7673_6572
}

/// FNV-1a with 64 bits.
private func checksum(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}
