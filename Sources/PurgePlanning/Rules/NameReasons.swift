/// Names and name patterns, each with a reason. Names that match none, which most do, are rejected
/// quickly and without a copy.
struct NameReasons: Sendable {
    private struct Rule: Sendable {
        let pattern: NamePattern
        let reason: String
    }

    private let names: [[UInt8]: String]
    private let filter: NameFilter
    /// The patterns, grouped by the key of three bytes that occur in every name they match.
    private var buckets: [[Rule]] = [[]]
    /// The index of each key's bucket; 0 for no bucket.
    private var bucketOfKey = [UInt8](repeating: 0, count: 4096)
    /// The patterns without three consecutive required bytes.
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

    /// Returns the reason of the name or pattern that matches; nil when none does.
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

    /// Returns the index of a key's bucket, which is created if needed; nil when there are too many
    /// buckets.
    private mutating func bucket(of key: Int) -> Int? {
        if bucketOfKey[key] == 0 {
            guard let number = UInt8(exactly: buckets.count) else { return nil }
            bucketOfKey[key] = number
            buckets.append([])
        }
        return Int(bucketOfKey[key])
    }
}

/// A filter that rejects most names outside a set by length and first byte, without a copy.
struct NameFilter: Sendable {
    /// A bit for each first byte, for each length; the last length stands for all longer ones.
    private var firstBytes = [UInt64](repeating: 0, count: 64 * 4)

    init(_ names: some Collection<[UInt8]>) {
        for name in names {
            let (word, bit) = Self.place(of: name.first ?? 0, length: name.count)
            firstBytes[word] |= bit
        }
    }

    /// Whether a name may be in the set; false is definite.
    func mayContain(_ name: UnsafeRawBufferPointer) -> Bool {
        let (word, bit) = Self.place(of: name.first ?? 0, length: name.count)
        return firstBytes[word] & bit != 0
    }

    private static func place(of first: UInt8, length: Int) -> (word: Int, bit: UInt64) {
        (min(length, 63) * 4 + Int(first >> 6), 1 << UInt64(first & 63))
    }
}
