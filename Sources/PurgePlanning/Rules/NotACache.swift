/// Places and files that look disposable and are not.
///
/// The list is a file, `not-a-cache.tsv`, which tells its own format, with a reason in each line.
struct NotACache: Sendable {
    /// What is shipped.
    static let shipped = NotACache(list: PackageResources.not_a_cache_tsv)

    /// A line of the list.
    struct Entry: Sendable, Hashable {
        /// What a pattern is compared with.
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

    /// The lines that are in order.
    let entries: [Entry]
    /// How many lines are neither in order, nor comments or empty.
    let malformedLineCount: Int
    private let names: NameReasons
    private let reserved: NameReasons
    private let trees: [Tree]
    /// The trees of several names, by each of them.
    private let treesByName: [[UInt8]: [Tree]]
    private let treeFilter: NameFilter
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
                // What is in a unit keeps all of the unit.
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

    /// Why an item of a name keeps the unit it is in; nil when it does not.
    func reason(name: UnsafeRawBufferPointer) -> String? { names.reason(name) }

    /// Why a name in a directory for temporary files, or one of what would be a unit, is reserved for
    /// other programs; nil when it is not.
    func reason(reserved name: UnsafeRawBufferPointer) -> String? { reserved.reason(name) }

    /// Why an item keeps the directory it is in, together with others there; nil when it does not.
    ///
    /// - Parameter hasSibling: whether that directory has an entry of a name. Hardly ever asked.
    func reason(
        partOfTree name: UnsafeRawBufferPointer, hasSibling: ([UInt8]) -> Bool
    ) -> String? {
        guard treeFilter.mayContain(name), let trees = treesByName[Array(name)] else { return nil }
        return trees.first { $0.names.allSatisfy(hasSibling) }?.reason
    }

    /// Why a directory is kept with everything below it; nil when it is not.
    ///
    /// - Parameter hasEntry: whether the directory has an entry of a name.
    func reason(treeWith hasEntry: ([UInt8]) -> Bool) -> String? {
        trees.first { $0.names.allSatisfy(hasEntry) }?.reason
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

extension NotACache.Entry {
    /// Reads a line; nil when it is not in order.
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
