import EffectiveValues

/// Names and name patterns, each with a reason. Names that match none, which most do, are rejected
/// quickly and without a copy.
struct NameReasons: Sendable {
    private struct Rule: Sendable {
        let pattern: NamePattern
        /// Three consecutive bytes that occur in every name it matches, as a number.
        let required: UInt32
        let reason: String
    }

    private let names: [[UInt8]: String]
    private let filter: NameFilter
    /// The patterns that require three bytes, in the order of their keys.
    private let rules: [Rule]
    /// Whether a rule has a key, by a bit for each key.
    private var hasRule = [UInt64](repeating: 0, count: 64)
    /// The patterns without three consecutive required bytes.
    private let others: [(pattern: NamePattern, reason: String)]

    init(_ reasons: [(pattern: [UInt8], reason: String)]) {
        var names: [[UInt8]: String] = [:]
        for (bytes, reason) in reasons where NamePattern.isLiteral(bytes) { names[bytes] = reason }
        self.names = names
        filter = NameFilter(names.keys)
        let patterns = reasons.filter { !NamePattern.isLiteral($0.pattern) }
            .map { (pattern: NamePattern($0.pattern), reason: $0.reason) }
        rules = patterns.compactMap { pattern, reason in
            pattern.requiredBytes.map {
                Rule(pattern: pattern, required: $0.reduce(0, Self.following), reason: reason)
            }
        }
        others = patterns.filter { $0.pattern.requiredBytes == nil }
        for rule in rules {
            let (word, bit) = Self.place(of: rule.required)
            hasRule[word] |= bit
        }
    }

    /// Returns the reason of the name or pattern that matches; nil when none does.
    func reason(_ name: UnsafeRawBufferPointer) -> String? {
        if filter.mayContain(name), let reason = names[Array(name)] { return reason }
        var latest: UInt32 = 0
        for byte in name {
            latest = Self.following(latest, byte)
            let (word, bit) = Self.place(of: latest)
            guard hasRule[word] & bit != 0 else { continue }
            if let reason = reason(name, with: latest) { return reason }
        }
        return others.isEmpty ? nil : others.first { $0.pattern.matches(name) }?.reason
    }

    @inline(never)
    private func reason(_ name: UnsafeRawBufferPointer, with required: UInt32) -> String? {
        rules.first { $0.required == required && $0.pattern.matches(name) }?.reason
    }

    /// Returns the last three bytes after one more.
    private static func following(_ latest: UInt32, _ byte: UInt8) -> UInt32 {
        (latest << 8 | UInt32(byte)) & 0xFF_FFFF
    }

    private static func place(of bytes: UInt32) -> (word: Int, bit: UInt64) {
        let key = Int((bytes &* 0x9E37_79B1) >> 20)
        return (key >> 6, 1 << UInt64(key & 63))
    }
}

/// A filter that rejects most names or paths outside a set by length and last byte, without a copy.
struct NameFilter: Sendable {
    /// A bit for each last byte, for each length; one length stands for all that differ by 64.
    private var lastBytes = [UInt64](repeating: 0, count: 64 * 4)

    init(_ names: some Collection<[UInt8]>) {
        for name in names {
            let (word, bit) = Self.place(of: name.last ?? 0, length: name.count)
            lastBytes[word] |= bit
        }
    }

    /// Whether a name may be in the set; false is definite.
    func mayContain(_ name: UnsafeRawBufferPointer) -> Bool {
        let (word, bit) = Self.place(of: name.last ?? 0, length: name.count)
        return lastBytes[word] & bit != 0
    }

    private static func place(of last: UInt8, length: Int) -> (word: Int, bit: UInt64) {
        ((length & 63) * 4 + Int(last >> 6), 1 << UInt64(last & 63))
    }
}
