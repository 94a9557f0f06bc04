import ResourceValues
import SystemCalls
import SystemPackage

package struct Snapshot: Sendable, Hashable {
    package let identifier: String
    /// The identifier the snapshot had when it was made, if the engine assigns a new one when tags
    /// change; otherwise ``identifier``.
    package let originalIdentifier: String
    package let time: FileTime
    package let hostName: String
    package let userName: String
    package let userIdentifier: UInt32
    package let allTags: [String]
    /// The paths that were backed up. For a snapshot made by another program, the paths the engine
    /// reports, in which bytes that are not UTF-8 may be lost.
    package let sources: [FilePath]
    /// The number of paths that the engine reports, without that of the record. ``sources`` may be fewer.
    let pathCount: Int
    /// The engine's identifier for the snapshot's content; empty if that is ``identifier``.
    package let root: String
    /// Whether it claims to have a record. Only ``Restic/record(of:)`` finds out whether it does.
    package let hasRecord: Bool
    /// The SHA-256 of its record, in hexadecimal, by which the record is proved; nil if it has none.
    package let recordHash: String?
    /// The SET it belongs to; nil for one that this program did not make, or that only keeps evicted files.
    package let set: SnapshotSet?
    /// Its number in the SET, from 1; 0 without a SET.
    package let number: Int64
    /// Whether it lacks something that the plan contains.
    package internal(set) var isIncomplete: Bool
    /// The SOURCEs that were missing, and what could not be stored, of a snapshot made here.
    package internal(set) var lacks: [[UInt8]] = []
    var isJudged: Bool

    /// - Parameter paths: the paths that the engine reports, used if the tags name no SOURCEs.
    package init(
        identifier: String, originalIdentifier: String? = nil, time: FileTime,
        hostName: String, userName: String, userIdentifier: UInt32 = 0, allTags: [String],
        paths: [FilePath] = [],
        pathCount: Int? = nil, root: String = "", hasRecord: Bool = true
    ) {
        self.identifier = identifier
        self.originalIdentifier = originalIdentifier ?? identifier
        self.time = time
        self.hostName = hostName
        self.userName = userName
        self.userIdentifier = userIdentifier
        self.allTags = allTags
        self.pathCount = pathCount ?? paths.count
        self.root = root
        self.hasRecord = hasRecord
        let tags = SnapshotTags(allTags)
        recordHash = tags.recordHash
        let isOwn = hasRecord && recordHash != nil && tags.number != nil
        sources = tags.sources.isEmpty ? paths : tags.sources
        set =
            isOwn && !tags.sources.isEmpty && !allTags.contains(StateTag.kept) ? tags.set : nil
        number = set == nil ? 0 : tags.number ?? 0
        isIncomplete = allTags.contains(StateTag.incomplete)
        isJudged =
            allTags.contains(StateTag.judged) && allTags.contains(StateTag.judgedTree(root))
    }

    package var shortIdentifier: String { String(identifier.prefix(8)) }

    /// The items that are counted: the SOURCEs and what is below them, not the directories above, which
    /// it contains, too.
    var items: PathSet { PathSet(sources.map(\.bytes)) }

    /// Whether it may have all of an item, and not only what SOURCEs below it have. Of a snapshot that was
    /// not made here, or keeps evicted files, not all SOURCEs may be known.
    func covers(_ path: [UInt8]) -> Bool {
        items.contains(path) || set == nil && !sources.contains { isHeld($0.bytes, by: path) }
    }

    package var tags: [String] { allTags.filter { !SnapshotTags.isReserved($0) } }

    /// Whether it has the only copy of something, so that only an explicit command may remove it.
    package var isPinned: Bool { allTags.contains(StateTag.kept) }

    /// Whether its time is more than a day ahead, which no wrong time zone explains.
    package var isFromFuture: Bool {
        time.seconds > FileTime.now.seconds.addingSaturating(86400)
    }
}

extension Snapshot {
    /// The most paths that are kept of a snapshot by another program.
    private static let pathLimit = 100

    /// Parses an object from the array that `restic snapshots --json` prints.
    init(json bytes: ArraySlice<UInt8>) throws(JSONError) {
        var (identifier, tree, hostName, userName) = ("", "", "", "")
        var (original, time) = (String?.none, [UInt8]())
        var userIdentifier: UInt32 = 0
        var (tags, paths, pathCount) = ([String](), [FilePath](), 0)
        // For a byte of a path that is not UTF-8, restic's list has U+FFFD.
        var scanner = JSONScanner(bytes, hasLostBytes: false)
        try scanner.forEachField { scanner, name throws(JSONError) in
            switch name {
            case "id": identifier = try scanner.text()
            case "original": original = try scanner.text()
            case "time": time = try scanner.string()
            case "hostname": hostName = try scanner.text()
            case "username": userName = try scanner.text()
            case "uid": userIdentifier = UInt32(exactly: try scanner.amount()) ?? .max
            case "tree": tree = try scanner.text()
            case "tags": tags = try scanner.texts()
            case "paths":
                try scanner.forEachElement { scanner throws(JSONError) in
                    pathCount += 1
                    guard paths.count < Self.pathLimit else { return }
                    paths.append(FilePath(bytes: try scanner.string()))
                }
            default: break
            }
        }
        let identifiers = [identifier, tree] + (original.map { [$0] } ?? [])
        guard let made = FileTime(rfc3339: time), identifiers.allSatisfy(\.isResticIdentifier)
        else { throw JSONError(offset: 0) }
        // The record file is not one of the SOURCEs.
        let record = RecordPath(tags: tags, sources: [])?.path
        self.init(
            identifier: identifier, originalIdentifier: original, time: made,
            hostName: hostName, userName: userName, userIdentifier: userIdentifier, allTags: tags,
            paths: paths.filter { $0.bytes != record },
            pathCount: pathCount - (record == nil ? 0 : 1), root: tree, hasRecord: record != nil)
    }
}

extension Snapshot {
    /// What a copy with other tags has in common with its original. A copy with other items, as
    /// `restic rewrite` makes one, has another root. The identifier of the original is only what
    /// the copy claims, so everything that decides where a snapshot is listed is compared, too.
    struct Content: Hashable {
        let identifier: String
        let root: String
        let time: FileTime
        let hostName: String
        let userName: String
        let set: SnapshotSet?
    }

    var itself: Content { content(identifier) }

    /// The original, where this is a copy with other tags; else itself.
    var copied: Content { content(originalIdentifier) }

    private func content(_ identifier: String) -> Content {
        Content(
            identifier: identifier, root: root, time: time, hostName: hostName,
            userName: userName, set: set)
    }
}

/// The SET that a snapshot belongs to: the snapshots that one installation makes for one configuration,
/// one after the other. Neither a host name nor a machine id tells two machines apart.
package struct SnapshotSet: Sendable, Hashable {
    /// A random identifier that the state directory keeps: 16 hexadecimal digits.
    package let identifier: String
    /// What it backs up: 16 hexadecimal digits of the hash of the configuration file's path, or of the
    /// SOURCEs without such a file.
    package let configuration: String

    package init(identifier: String, configuration: String) {
        (self.identifier, self.configuration) = (identifier, configuration)
    }

    var text: String { "\(identifier)-\(configuration)" }

    var tag: String { SnapshotTags.set + text }

    fileprivate init?(text: Substring) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, parts.allSatisfy(isIdentifier) else { return nil }
        self.init(identifier: String(parts[0]), configuration: String(parts[1]))
    }
}

func isIdentifier(_ text: some StringProtocol) -> Bool {
    text.utf8.count == 16 && text.isHexadecimal
}

func randomIdentifier() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}

/// What tells the SOURCEs and the SET of a snapshot, one tag for each value.
///
/// restic stores a snapshot's paths too, but they are the list of a cover when many items are
/// excluded, and restic alters what is not UTF-8. Tags are ASCII, with every other byte and every
/// comma as `%XX`.
package struct SnapshotTags: Sendable, Hashable {
    package let sources: [FilePath]
    var set: SnapshotSet?
    /// Gives the order of a SET's snapshots, whatever a clock says.
    var number: Int64?
    /// The SHA-256 of the record, in hexadecimal, by which it is proved.
    var recordHash: String?

    private static let source = "resval-source="
    fileprivate static let set = "resval-set="
    private static let number = "resval-number="
    private static let recordHash = "resval-record-hash="
    static let highestNumber: Int64 = 1_000_000_000

    /// The tags.
    var texts: [String] {
        let others = [
            set?.tag, number.map { "\(Self.number)\($0)" }, recordHash.map { Self.recordHash + $0 },
        ]
        return Self.texts(of: sources) + others.compactMap { $0 }
    }

    private static func texts(of sources: [FilePath]) -> [String] {
        Set(sources.map { source + Percent.text(of: $0.bytes) }).sorted()
    }

    /// Returns a hash of a set of SOURCEs: equal for equal sets, whatever their order.
    package static func fingerprint(of sources: [FilePath]) -> String {
        shortName(for: texts(of: sources).joined(separator: ",").utf8)
    }

    /// Whether a tag has the prefix that is reserved for this program's tags.
    static func isReserved(_ tag: String) -> Bool { tag.utf8.starts(with: "resval-".utf8) }

    /// Whether users may give a snapshot a tag. restic separates tags by commas.
    package static func isAllowed(_ tag: String) -> Bool {
        !tag.isEmpty && !tag.utf8.contains(UInt8(ascii: ",")) && !isReserved(tag)
    }
}

extension SnapshotTags {
    /// Finds the values in a snapshot's tags. Every client of a repository can write tags, so a value that
    /// is not plain, or is there in several tags, does not count; nor do SOURCEs unless all are plain
    /// absolute paths.
    package init(_ tags: [String]) {
        func tagged(_ prefix: String) -> Set<String> { Set(tags.filter { $0.hasPrefix(prefix) }) }
        func onlyValue(_ prefix: String) -> Substring? {
            let named = tagged(prefix)
            return named.count == 1 ? named.first?.dropFirst(prefix.count) : nil
        }
        let named = tagged(Self.source).sorted()
        let paths = named.compactMap {
            Percent.bytes(of: $0.utf8.dropFirst(Self.source.utf8.count))
                .flatMap { FilePath(plainAbsolute: $0) }
        }
        sources = paths.count == named.count ? paths : []
        set = onlyValue(Self.set).flatMap { SnapshotSet(text: $0) }
        number = onlyValue(Self.number).flatMap { Int64($0) }
            .flatMap { (1...Self.highestNumber).contains($0) ? $0 : nil }
        recordHash =
            onlyValue(Self.recordHash).flatMap { ContentHash(hexadecimal: $0.utf8) }?.hexadecimal
    }
}

package enum StateTag {
    /// It was compared with what was on the disk; `forget` adds the tag. It counts only together with
    /// ``judgedTree(_:)``, since a snapshot that was written anew with less keeps its tags.
    package static let judged = "resval-judged"
    static func judgedTree(_ root: String) -> String { "resval-judged-tree=\(root.prefix(16))" }
    /// The snapshot lacks something that the plan contains.
    package static let incomplete = "resval-incomplete"
    /// Nothing could be noted of it, so it belongs to no SET that goes on.
    static let unnoted = "resval-unnoted"
    /// The snapshot has the only copy of the content of evicted files.
    package static let kept = "resval-kept"
}
