import EffectiveValues
import SystemCalls
import SystemPackage

/// Directories and files that look disposable but aren't.
///
/// The list is the file `not-a-cache.tsv`, which describes its own format and gives a reason on
/// each line.
struct NotACache: Sendable {
    static let shipped = NotACache(list: PackageResources.not_a_cache_tsv)

    struct Entry: Sendable, Hashable {
        /// What the pattern is compared with.
        enum Kind: String, Sendable {
            case name, tree, cache, reserved, split, fetched, packages

            /// Whether the pattern is a path below a directory for caches.
            var isPath: Bool { self == .cache || self == .split || self == .fetched }
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

    let entries: [Entry]
    /// The number of lines that are not valid, comments and empty lines not counted.
    let malformedLineCount: Int
    private let names: NameReasons
    private let reserved: NameReasons
    private let trees: [Tree]
    private let treesByName: [[UInt8]: [Tree]]
    private let treeFilter: NameFilter
    private let paths: [CachePath]
    /// The indices of the paths by their first name, and of those whose first name is a pattern.
    private let namedPaths: [[UInt8]: [Int]]
    private let pathFilter: NameFilter
    private let patternPaths: [Int]
    private let packages: Set<[UInt8]>

    /// A path below a directory for caches.
    private struct CachePath: Sendable {
        let kind: Entry.Kind
        let pattern: [NamePattern]
        let reason: String

        /// Whether a name may follow so many that match.
        func matches(_ name: UnsafeRawBufferPointer, at depth: Int) -> Bool {
            depth >= pattern.count || pattern[depth].matches(name)
        }
    }

    /// A directory for caches or one below, with the listed paths that its own path fits so far.
    struct Position: Sendable, Hashable {
        /// The number of levels below the directory for caches.
        fileprivate(set) var depth = 0
        fileprivate var paths: [Int] = []

        /// A directory for caches.
        static let top = Position()

        /// Whether no line about a path concerns what lies below.
        fileprivate var isUnlisted: Bool { depth > 0 && paths.isEmpty }
    }

    init(list: [UInt8]) {
        let lines = list.split(separator: UInt8(ascii: "\n"))
            .filter { $0.first != UInt8(ascii: "#") }
        entries = lines.compactMap { Entry(line: $0) }
        malformedLineCount = lines.count - entries.count
        var names: [(pattern: [UInt8], reason: String)] = []
        var reserved = names
        var trees: [Tree] = []
        var paths: [CachePath] = []
        var namedPaths: [[UInt8]: [Int]] = [:]
        var patternPaths: [Int] = []
        packages = Set(entries.filter { $0.kind == .packages }.map(\.pattern))
        for entry in entries {
            switch entry.kind {
            case .packages: break
            case .name: names.append((entry.pattern, entry.reason))
            case .reserved: reserved.append((entry.pattern, entry.reason))
            case .tree:
                let parts = entry.pattern.split(separator: UInt8(ascii: " ")).map { Array($0) }
                trees.append(Tree(names: parts, reason: entry.reason))
                // An item inside a unit keeps the whole unit.
                if parts.count == 1 { names.append((entry.pattern, entry.reason)) }
            case .cache, .split, .fetched:
                let parts = entry.pattern.split(separator: UInt8(ascii: "/"))
                if let first = parts.first, NamePattern.isLiteral(first) {
                    namedPaths[Array(first), default: []].append(paths.count)
                } else {
                    patternPaths.append(paths.count)
                }
                paths.append(
                    CachePath(
                        kind: entry.kind, pattern: parts.map { NamePattern($0) },
                        reason: entry.reason))
            }
        }
        self.names = NameReasons(names)
        self.reserved = NameReasons(reserved)
        self.trees = trees
        var treesByName: [[UInt8]: [Tree]] = [:]
        for tree in trees {
            for name in tree.names { treesByName[name, default: []].append(tree) }
        }
        self.treesByName = treesByName
        self.paths = paths
        self.namedPaths = namedPaths
        self.patternPaths = patternPaths
        treeFilter = NameFilter(treesByName.keys)
        pathFilter = NameFilter(namedPaths.keys)
    }

    /// Returns why an item of that name keeps the unit it is in; nil when it does not.
    func reason(name: UnsafeRawBufferPointer) -> String? { names.reason(name) }

    /// Returns why a name is reserved for other programs, for temporary files and for items that
    /// would be units; nil when it is not.
    func reason(reserved name: UnsafeRawBufferPointer) -> String? { reserved.reason(name) }

    /// Returns why an item keeps the directory it is in, alone or together with other entries there, and
    /// all that is in it; nil when it does not.
    ///
    /// - Parameter directory: the path of that directory. Rarely called.
    func reason(
        partOfTree name: UnsafeRawBufferPointer, in directory: @autoclosure () -> FilePath
    ) -> String? {
        guard treeFilter.mayContain(name), let trees = treesByName[Array(name)] else { return nil }
        func isThere(_ name: [UInt8]) -> Bool {
            isFilled(directory().pushing(FilePath(bytes: name)).withoutFollowing, name)
        }
        return trees.first { $0.names.allSatisfy(isThere) }?.reason
    }

    /// Returns why a directory is kept with everything below it; nil when it is not.
    ///
    /// - Parameter hasEntry: whether the directory has an entry of a given name.
    func reason(treeWith hasEntry: ([UInt8]) -> Bool) -> String? {
        trees.first { $0.names.allSatisfy(hasEntry) }?.reason
    }

    /// As ``reason(treeWith:)``, of a directory that is read for it.
    ///
    /// - Parameters:
    ///   - directory: the directory, open for reading.
    ///   - limit: how many entries are read: where there are more, each name is looked up instead.
    ///   - body: called with the name of each entry, and whether it is a directory, as
    ///     ``forEachEntry(inOpen:_:)`` does.
    func reason(
        treeIn directory: FileDescriptor, upTo limit: Int = .max,
        _ body: ([UInt8], Bool?) -> Void = { _, _ in }
    ) throws(Errno) -> String? {
        var names: Set<[UInt8]> = []
        var count = 0
        try forEachEntry(inOpen: directory) { name, isDirectory in
            count += 1
            if name.withUnsafeBytes({ treeFilter.mayContain($0) }), treesByName[name] != nil {
                names.insert(name)
            }
            body(name, isDirectory)
            return count <= limit
        }
        return reason(treeWith: { name in
            (count > limit || names.contains(name))
                && isFilled(
                    DirectoryEntryLocation(directory: directory, name: FilePath(bytes: name)), name)
        })
    }

    /// Whether an entry of a directory for caches, or of one below, is listed as a directory whose
    /// entries are units by themselves, or leads to one.
    func isSplit(in position: Position, _ name: UnsafeRawBufferPointer) -> Bool {
        !position.isUnlisted
            && matches(in: position, name).contains {
                paths[$0].kind == .split && paths[$0].pattern.count > position.depth
            }
    }

    /// Whether an entry of a directory for caches, or of one below, was fetched and can be again.
    func isFetched(in position: Position, _ name: UnsafeRawBufferPointer) -> Bool {
        !position.isUnlisted && fetchedLength(matches(in: position, name), in: position) > 0
            && reason(in: position, name) == nil
    }

    /// Whether a directory of that name holds packages that were fetched.
    func isOfPackages(_ name: UnsafeRawBufferPointer) -> Bool {
        packages.contains { $0.elementsEqual(name) }
    }

    /// Returns why an entry of a directory for caches, or of one below, is kept; nil when it is not.
    ///
    /// What lies below a listed path is kept too, and so are the directories above it, unless a longer
    /// path says that it was fetched.
    func reason(in position: Position, _ name: UnsafeRawBufferPointer) -> String? {
        if position.isUnlisted { return nil }
        let matches = matches(in: position, name)
        let fetched = fetchedLength(matches, in: position)
        return matches.lazy.map { paths[$0] }
            .first { $0.kind == .cache && $0.pattern.count > fetched }?.reason
    }

    /// Returns the length of the longest path by which an entry was fetched; 0 when there is none.
    private func fetchedLength(_ matches: [Int], in position: Position) -> Int {
        matches.lazy.map { paths[$0] }
            .filter { $0.kind == .fetched && $0.pattern.count <= position.depth + 1 }
            .map(\.pattern.count).max() ?? 0
    }

    /// Returns the position of a directory in another one.
    func position(in position: Position, _ name: UnsafeRawBufferPointer) -> Position {
        Position(depth: position.depth + 1, paths: matches(in: position, name))
    }

    private func matches(in position: Position, _ name: UnsafeRawBufferPointer) -> [Int] {
        var candidates = position.paths
        if position.depth == 0 {
            let named = pathFilter.mayContain(name) ? namedPaths[Array(name)] : nil
            candidates = (named ?? []) + patternPaths
        }
        return candidates.filter { paths[$0].matches(name, at: position.depth) }
    }
}

/// Whether an item exists and can be part of a tree: programs keep others from looking further up by an empty
/// `.git`, and projects have a directory `config`. True also when that cannot be determined.
private func isFilled(_ item: borrowing some FileLocation & ~Copyable, _ name: [UInt8]) -> Bool {
    do throws(Errno) {
        let status = try item.status()
        let isFile = ["README", "config"].contains(String(decoding: name, as: UTF8.self))
        return !status.isEmptyFile && !(isFile && status.kind == .directory)
    } catch {
        return error != .noSuchFileOrDirectory
    }
}

extension FileStatus {
    var isEmptyFile: Bool { kind == .regularFile && size == 0 }
}

extension NotACache.Entry {
    fileprivate init?(line: ArraySlice<UInt8>) {
        let parts = line.split(
            separator: UInt8(ascii: "\t"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }),
            let kind = Kind(rawValue: String(decoding: parts[0], as: UTF8.self)),
            kind.isPath || !parts[1].contains(UInt8(ascii: "/")),
            kind != .tree && kind != .packages || NamePattern.isLiteral(parts[1])
        else { return nil }
        self.kind = kind
        pattern = Array(parts[1])
        reason = String(decoding: parts[2], as: UTF8.self)
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
    /// Whether a rule has a key.
    private var keys = BitTable(4096)
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
        for rule in rules { keys.insert(Self.key(of: rule.required)) }
    }

    /// Returns the reason of the name or pattern that matches; nil when none does.
    func reason(_ name: UnsafeRawBufferPointer) -> String? {
        if filter.mayContain(name), let reason = names[Array(name)] { return reason }
        var latest: UInt32 = 0
        for byte in name {
            latest = Self.following(latest, byte)
            guard keys.contains(Self.key(of: latest)) else { continue }
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

    private static func key(of bytes: UInt32) -> Int { Int((bytes &* 0x9E37_79B1) >> 20) }
}

/// A set of small numbers, by a bit for each.
struct BitTable: Sendable {
    private var words: [UInt64]

    /// - Parameter count: the numbers from 0 that it may contain; a multiple of 64.
    init(_ count: Int) { words = [UInt64](repeating: 0, count: count / 64) }

    mutating func insert(_ number: Int) { words[number >> 6] |= 1 << UInt64(number & 63) }

    func contains(_ number: Int) -> Bool { words[number >> 6] & 1 << UInt64(number & 63) != 0 }
}

/// A filter that rejects most names or paths outside a set by length and last byte, without a copy.
struct NameFilter: Sendable {
    /// Each last byte, for each length; one length stands for all that differ by 64.
    private var lastBytes = BitTable(64 * 256)

    init(_ names: some Collection<[UInt8]>) {
        for name in names { lastBytes.insert(Self.number(name.last ?? 0, length: name.count)) }
    }

    /// Whether a name may be in the set; false is definite.
    func mayContain(_ name: UnsafeRawBufferPointer) -> Bool {
        lastBytes.contains(Self.number(name.last ?? 0, length: name.count))
    }

    private static func number(_ last: UInt8, length: Int) -> Int { (length & 63) << 8 | Int(last) }
}

/// What the entries of a program's directory in a directory for caches say about how they belong
/// together. An index without its data, or data without its index, can break the program that made
/// them: such entries go together or not at all.
struct CacheLayout {
    /// Why the directory is kept with everything in it; nil when it is not.
    private(set) var reasonToKeep: KeepReason?
    /// Whether a database lies beside directories: it may be their index.
    private(set) var isIndexed = false
    /// Whether a directory that is kept for what it holds, such as a repository, lies beside files:
    /// small ones may be its index.
    private(set) var keepsSmallFiles = false

    /// The most directories that are searched for one to keep. Among more, there may be one.
    private static let mostDirectories = 1000

    /// Reads the layout of a directory. Where part of it cannot be read, all is kept together.
    ///
    /// - Parameters:
    ///   - list: says what keeps a directory.
    ///   - isOfProgram: whether its entries belong together if they look so.
    init(
        of directory: borrowing some FileLocation & ~Copyable, _ list: NotACache,
        isOfProgram: Bool = true
    ) {
        var directories: [[UInt8]] = []
        var (hasDatabase, hasFiles) = (false, false)
        do throws(Errno) {
            let opened = try Self.open(directory)
            let why = try list.reason(treeIn: opened.descriptor) { name, isDirectory in
                // The kind is not known on some filesystems: then it may be either.
                if isDirectory != false, directories.count <= Self.mostDirectories {
                    directories.append(name)
                }
                if isDirectory != true {
                    hasFiles = true
                    hasDatabase = hasDatabase || Self.isDatabase(name)
                }
            }
            reasonToKeep = why.map { .notACache($0) }
            guard isOfProgram, hasFiles, !directories.isEmpty else { return }
            isIndexed = hasDatabase
            let device = try opened.descriptor.status().identity.device
            keepsSmallFiles =
                directories.count > Self.mostDirectories
                || directories.contains { name in
                    Self.isKept(
                        DirectoryEntryLocation(
                            directory: opened.descriptor, name: FilePath(bytes: name)),
                        on: device, list)
                }
        } catch .noSuchFileOrDirectory {
            return
        } catch {
            reasonToKeep = .unreadable(error)
            (isIndexed, keepsSmallFiles) = (isOfProgram, isOfProgram)
        }
    }

    /// Whether an entry is a directory that is kept for what it holds; true also when that cannot be
    /// determined.
    private static func isKept(
        _ entry: DirectoryEntryLocation, on device: UInt64, _ list: NotACache
    ) -> Bool {
        do throws(Errno) {
            let status = try entry.statusAtHand()
            // What is mounted there may never answer.
            guard status.kind == .directory, status.isMountRoot != true,
                status.identity.device == device
            else { return false }
            let opened = try open(entry)
            return try list.reason(treeIn: opened.descriptor, upTo: 500) != nil
        } catch {
            return error != .noSuchFileOrDirectory
        }
    }

    private static func open(
        _ directory: borrowing some FileLocation & ~Copyable
    ) throws(Errno) -> OwnedDescriptor {
        OwnedDescriptor(
            try openPreservingAccessTime(
                directory, flags: [.readOnly, .directory, .noFollow, .nonBlocking]))
    }

    private static func isDatabase(_ name: [UInt8]) -> Bool {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return false }
        return name[dot...].elementsEqual(".db".utf8) || name[dot...].starts(with: ".sqlite".utf8)
    }
}
