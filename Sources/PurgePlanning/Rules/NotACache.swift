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
    /// The places by their first name, and those whose first name is a pattern.
    private let namedPlaces: [[UInt8]: [Place]]
    private let placeFilter: NameFilter
    private let patternPlaces: [Place]

    private struct Place: Sendable {
        let pattern: [NamePattern]
        let reason: String

        func matches(_ names: [[UInt8]], _ last: UnsafeRawBufferPointer) -> Bool {
            guard zip(pattern, names).allSatisfy({ $0.matches($1) }) else { return false }
            return pattern.count <= names.count || pattern[names.count].matches(last)
        }
    }

    /// Reads a list.
    init(list: [UInt8]) {
        var names: [[UInt8]: String] = [:]
        var namedPlaces: [[UInt8]: [Place]] = [:]
        var patternPlaces: [Place] = []
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
                let place = Place(pattern: pattern.map { NamePattern($0) }, reason: reason)
                if let first = pattern.first, NamePattern.isLiteral(first) {
                    namedPlaces[Array(first), default: []].append(place)
                } else {
                    patternPlaces.append(place)
                }
            }
        }
        self.names = names
        self.namedPlaces = namedPlaces
        self.patternPlaces = patternPlaces
        filter = NameFilter(names.keys)
        placeFilter = NameFilter(namedPlaces.keys)
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
    /// - Parameters:
    ///   - names: the names from that directory on down, without the last.
    ///   - last: the last name.
    func reason(place names: [[UInt8]], _ last: UnsafeRawBufferPointer) -> String? {
        let named =
            names.first.map { $0.withUnsafeBytes { places(named: $0) } } ?? places(named: last)
        return
            (named.first { $0.matches(names, last) }
            ?? patternPlaces.first { $0.matches(names, last) })?.reason
    }

    private func places(named first: UnsafeRawBufferPointer) -> [Place] {
        placeFilter.mayContain(first) ? namedPlaces[Array(first)] ?? [] : []
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
