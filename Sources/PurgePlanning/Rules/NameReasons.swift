/// Names and patterns of names, each with a reason, that are quick to tell apart from all others: most
/// names are looked at once, without a copy.
struct NameReasons: Sendable {
    private struct Rule: Sendable {
        let pattern: NamePattern
        let reason: String
    }

    private let names: [[UInt8]: String]
    private let filter: NameFilter
    /// The patterns by a key of three bytes that all names have which one matches.
    private var buckets: [[Rule]] = [[]]
    /// For each key the number of its bucket; 0 for none.
    private var bucketOfKey = [UInt8](repeating: 0, count: 4096)
    /// The patterns without three bytes in a row.
    private var others: [Rule] = []

    init(_ reasons: [(pattern: [UInt8], reason: String)]) {
        var names: [[UInt8]: String] = [:]
        for (bytes, reason) in reasons where NamePattern.isLiteral(bytes) { names[bytes] = reason }
        self.names = names
        filter = NameFilter(names.keys)
        for (bytes, reason) in reasons where !NamePattern.isLiteral(bytes) {
            let rule = Rule(pattern: NamePattern(bytes), reason: reason)
            guard let key = rule.pattern.requiredBytes.map(Self.key), let bucket = bucket(of: key)
            else {
                others.append(rule)
                continue
            }
            buckets[bucket].append(rule)
        }
    }

    /// The reason that goes with a name; nil when there is none.
    func reason(_ name: UnsafeRawBufferPointer) -> String? {
        if filter.mayContain(name), let reason = names[Array(name)] { return reason }
        var key = 0
        for (index, byte) in name.enumerated() {
            key = (key << 4 ^ Int(byte)) & 0xFFF
            let bucket = Int(bucketOfKey[key])
            guard bucket != 0, index >= 2 else { continue }
            if let rule = buckets[bucket].first(where: { $0.pattern.matches(name) }) {
                return rule.reason
            }
        }
        return others.isEmpty ? nil : others.first { $0.pattern.matches(name) }?.reason
    }

    private static func key(_ bytes: [UInt8]) -> Int {
        bytes.reduce(0) { ($0 << 4 ^ Int($1)) & 0xFFF }
    }

    /// The number of a key's bucket, made when there is none yet; nil when there are too many.
    private mutating func bucket(of key: Int) -> Int? {
        if bucketOfKey[key] == 0 {
            guard let number = UInt8(exactly: buckets.count) else { return nil }
            bucketOfKey[key] = number
            buckets.append([])
        }
        return Int(bucketOfKey[key])
    }
}

/// Tells most names that are not in a set by their length and first byte, without a copy.
struct NameFilter: Sendable {
    /// For each length, the last one for all beyond, a bit for each first byte.
    private var firstBytes = [UInt64](repeating: 0, count: 64 * 4)

    init(_ names: some Collection<[UInt8]>) {
        for name in names {
            let (word, bit) = Self.place(of: name.first ?? 0, length: name.count)
            firstBytes[word] |= bit
        }
    }

    /// Whether a name may be in the set; false is certain.
    func mayContain(_ name: UnsafeRawBufferPointer) -> Bool {
        let (word, bit) = Self.place(of: name.first ?? 0, length: name.count)
        return firstBytes[word] & bit != 0
    }

    private static func place(of first: UInt8, length: Int) -> (word: Int, bit: UInt64) {
        (min(length, 63) * 4 + Int(first >> 6), 1 << UInt64(first & 63))
    }
}
