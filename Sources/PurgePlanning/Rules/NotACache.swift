/// Places and files that look disposable and are not.
///
/// The list is a file, `not-a-cache.tsv`, with a reason in each line.
struct NotACache: Sendable {
    /// What is shipped.
    static let shipped = NotACache(list: PackageResources.not_a_cache_tsv)

    /// How many lines have neither a pattern and a reason, nor are comments or empty.
    let malformedLineCount: Int
    private let names: [[UInt8]: String]
    private let filter: NameFilter
    private let places: [Place]

    private struct Place: Sendable {
        let pattern: [NamePattern]
        let reason: String
    }

    /// Reads a list.
    init(list: [UInt8]) {
        var names: [[UInt8]: String] = [:]
        var places: [Place] = []
        var malformed = 0
        for line in list.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#")
        {
            let parts = line.split(
                separator: UInt8(ascii: "\t"), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                malformed += 1
                continue
            }
            let reason = String(decoding: parts[1], as: UTF8.self)
            let pattern = parts[0].split(separator: UInt8(ascii: "/"))
            if pattern.count == 1, !parts[0].contains(UInt8(ascii: "*")) {
                names[Array(pattern[0])] = reason
            } else {
                places.append(Place(pattern: pattern.map { NamePattern($0) }, reason: reason))
            }
        }
        self.names = names
        self.places = places
        filter = NameFilter(names.keys)
        malformedLineCount = malformed
    }

    /// Why an item of a name keeps the unit it is in; nil when it does not.
    func reason(name: UnsafeRawBufferPointer) -> String? {
        filter.mayContain(name) ? names[Array(name)] : nil
    }

    /// Why a place below a directory for caches is kept; nil when it is not.
    ///
    /// Kept is also what lies below such a place, and what may hold it.
    ///
    /// - Parameter path: the names from that directory on down.
    func reason(place path: [[UInt8]]) -> String? {
        places.first { place in zip(place.pattern, path).allSatisfy { $0.matches($1) } }?.reason
    }
}

/// Tells most names that are not in a set by their length and first byte, without a copy.
struct NameFilter: Sendable {
    private var lengths: UInt64 = 0
    private var firstBytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    init(_ names: some Collection<[UInt8]>) {
        for name in names {
            lengths |= 1 << UInt64(min(name.count, 63))
            let bit: UInt64 = 1 << UInt64((name.first ?? 0) & 63)
            switch (name.first ?? 0) >> 6 {
            case 0: firstBytes.0 |= bit
            case 1: firstBytes.1 |= bit
            case 2: firstBytes.2 |= bit
            default: firstBytes.3 |= bit
            }
        }
    }

    /// Whether a name may be in the set; false is certain.
    @inline(__always)
    func mayContain(_ name: UnsafeRawBufferPointer) -> Bool {
        guard let first = name.first, lengths >> UInt64(min(name.count, 63)) & 1 == 1
        else { return false }
        let bits =
            switch first >> 6 {
            case 0: firstBytes.0
            case 1: firstBytes.1
            case 2: firstBytes.2
            default: firstBytes.3
            }
        return bits >> UInt64(first & 63) & 1 == 1
    }
}
