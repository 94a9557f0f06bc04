import EffectiveValues
import SystemCalls
import SystemPackage

/// Directories and files that look disposable but aren't.
///
/// The list is the file `not-a-cache.tsv`, which describes its own format and gives a reason on
/// each line.
struct NotACache: Sendable {
    /// The list that is shipped.
    static let shipped = NotACache(list: PackageResources.not_a_cache_tsv)

    /// A line of the list.
    struct Entry: Sendable, Hashable {
        /// What the pattern is compared with.
        enum Kind: String, Sendable {
            case name, tree, cache, reserved
        }

        let kind: Kind
        let pattern: [UInt8]
        let reason: String
    }

    /// Names that keep a directory when all of them are in it.
    struct Tree: Sendable {
        let names: [[UInt8]]
        let reason: String
    }

    /// The valid lines.
    let entries: [Entry]
    /// The number of lines that are not valid, comments and empty lines not counted.
    let malformedLineCount: Int
    private let names: NameReasons
    private let reserved: NameReasons
    private let trees: [Tree]
    /// The trees of several names, by each of the names.
    private let treesByName: [[UInt8]: [Tree]]
    private let treeFilter: NameFilter
    /// The paths by their first name, and those whose first name is a pattern.
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

    /// Parses a list.
    init(list: [UInt8]) {
        let lines = list.split(separator: UInt8(ascii: "\n"))
            .filter { $0.first != UInt8(ascii: "#") }
        entries = lines.compactMap { Entry(line: $0) }
        malformedLineCount = lines.count - entries.count
        var names: [(pattern: [UInt8], reason: String)] = []
        var reserved = names
        var trees: [Tree] = []
        var namedPlaces: [[UInt8]: [Place]] = [:]
        var patternPlaces: [Place] = []
        for entry in entries {
            switch entry.kind {
            case .name: names.append((entry.pattern, entry.reason))
            case .reserved: reserved.append((entry.pattern, entry.reason))
            case .tree:
                let parts = entry.pattern.split(separator: UInt8(ascii: " ")).map { Array($0) }
                trees.append(Tree(names: parts, reason: entry.reason))
                // An item inside a unit keeps the whole unit.
                if parts.count == 1 { names.append((entry.pattern, entry.reason)) }
            case .cache:
                let parts = entry.pattern.split(separator: UInt8(ascii: "/"))
                let place = Place(pattern: parts.map { NamePattern($0) }, reason: entry.reason)
                if let first = parts.first, NamePattern.isLiteral(first) {
                    namedPlaces[Array(first), default: []].append(place)
                } else {
                    patternPlaces.append(place)
                }
            }
        }
        self.names = NameReasons(names)
        self.reserved = NameReasons(reserved)
        self.trees = trees
        var treesByName: [[UInt8]: [Tree]] = [:]
        for tree in trees where tree.names.count > 1 {
            for name in tree.names { treesByName[name, default: []].append(tree) }
        }
        self.treesByName = treesByName
        self.namedPlaces = namedPlaces
        self.patternPlaces = patternPlaces
        treeFilter = NameFilter(treesByName.keys)
        placeFilter = NameFilter(namedPlaces.keys)
    }

    /// Returns why an item of that name keeps the unit it is in; nil when it does not.
    func reason(name: UnsafeRawBufferPointer) -> String? { names.reason(name) }

    /// Returns why a name is reserved for other programs, for temporary files and for items that
    /// would be units; nil when it is not.
    func reason(reserved name: UnsafeRawBufferPointer) -> String? { reserved.reason(name) }

    /// Returns why an item keeps the directory it is in, together with other entries there; nil
    /// when it does not.
    ///
    /// - Parameter hasSibling: whether that directory has an entry of a given name. Rarely
    ///   called.
    func reason(
        partOfTree name: UnsafeRawBufferPointer, hasSibling: ([UInt8]) -> Bool
    ) -> String? {
        guard treeFilter.mayContain(name), let trees = treesByName[Array(name)] else { return nil }
        return trees.first { $0.names.allSatisfy(hasSibling) }?.reason
    }

    /// Returns why a directory is kept with everything below it; nil when it is not.
    ///
    /// - Parameter hasEntry: whether the directory has an entry of a given name.
    func reason(treeWith hasEntry: ([UInt8]) -> Bool) -> String? {
        trees.first { $0.names.allSatisfy(hasEntry) }?.reason
    }

    /// Returns why an item below a directory for caches is kept; nil when it is not.
    ///
    /// What lies below a listed path is kept too, and so are the directories above it.
    ///
    /// - Parameters:
    ///   - names: the names from the directory for caches down, without the last.
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

extension NotACache.Entry {
    /// Parses a line; nil when it is not valid.
    fileprivate init?(line: ArraySlice<UInt8>) {
        let parts = line.split(
            separator: UInt8(ascii: "\t"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }),
            let kind = Kind(rawValue: String(decoding: parts[0], as: UTF8.self)),
            kind == .cache || !parts[1].contains(UInt8(ascii: "/")),
            kind != .tree || NamePattern.isLiteral(parts[1])
        else { return nil }
        self.kind = kind
        pattern = Array(parts[1])
        reason = String(decoding: parts[2], as: UTF8.self)
    }
}

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

/// Sidecar files of a database in the same directory, as SQLite names them.
enum DatabaseSidecars {
    /// The suffixes added to the name of the database.
    static let suffixes = ["-wal", "-shm", "-journal"]

    /// Returns the path of the database that a sidecar belongs to; nil when the file is not a
    /// sidecar.
    ///
    /// - Parameter path: the path or the name of the file.
    static func database(of path: some BidirectionalCollection<UInt8>) -> [UInt8]? {
        // The suffixes end in these letters, and most names do not.
        guard let last = path.last, last == UInt8(ascii: "l") || last == UInt8(ascii: "m")
        else { return nil }
        guard
            let suffix = suffixes.first(where: {
                path.suffix($0.utf8.count).elementsEqual($0.utf8)
            })
        else { return nil }
        return Array(path.dropLast(suffix.utf8.count))
    }

    /// Whether a file has a sidecar next to it; true also when that cannot be determined.
    static func exist(besides path: [UInt8]) -> Bool {
        suffixes.contains { suffix in
            do throws(Errno) {
                _ = try FilePath(bytes: path + Array(suffix.utf8)).withoutFollowing.status()
                return true
            } catch {
                return error != .noSuchFileOrDirectory && error != .fileNameTooLong
            }
        }
    }
}

/// Directories that other programs fill, together with marks.
enum UntrustedDirectories {
    private static let names: Set<[UInt8]> = Set(
        [
            "containers", "docker", "flatpak", "lxc", "lxd", "machines", "Trash", ".Trash",
            "podman", "containerd", ".var", "snap",
        ].map { Array($0.utf8) })

    /// Whether marks in a directory of this name are not trusted.
    static func contains(_ name: some Collection<UInt8>) -> Bool {
        names.contains(Array(name)) || name.starts(with: ".Trash-".utf8)
    }
}
