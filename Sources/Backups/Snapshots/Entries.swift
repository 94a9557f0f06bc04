import ResourceValues
import SystemCalls
import SystemPackage

package struct SnapshotEntry: Sendable, Hashable {
    package var path: [UInt8]
    package let kind: FileKind
    /// The size in bytes; 0 unless it is a regular file.
    package let size: Int64
    package let modified: FileTime
    /// The permission bits, without set-user-ID, set-group-ID and sticky bits.
    package let permissions: UInt16
    package var owner: UInt32 = 0
    var group: UInt32 = 0
    var hasSetID = false
}

struct ExcludedPaths: Sendable {
    private var files: [[UInt8]: String] = [:]
    private var directories: [[UInt8]: String] = [:]

    init(_ exclusions: [RecordedExclusion]) {
        self.init(exclusions.map { ($0.path, $0.isDirectory, $0.sentence) })
    }

    init(_ items: [(path: [UInt8], isDirectory: Bool, reason: String)]) {
        for (path, isDirectory, reason) in items {
            if isDirectory { directories[path] = reason } else { files[path] = reason }
        }
    }

    /// Returns why the content of an item is excluded; nil when it is not.
    func reason(of path: [UInt8]) -> String? { directories[path] ?? reason(for: path) }

    /// Returns why a path is excluded; nil when it is not. The entry of an excluded directory is stored.
    func reason(for path: [UInt8]) -> String? {
        if let reason = files[path] { return reason }
        guard !directories.isEmpty else { return nil }
        return ancestors(of: path).lazy.compactMap { directories[Array($0)] }.first
    }
}

/// Returns the directories above a path, nearest first, without the root.
func ancestors(of path: [UInt8]) -> some Sequence<ArraySlice<UInt8>> {
    sequence(state: path[...]) { rest -> ArraySlice<UInt8>? in
        guard let slash = rest.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return nil }
        rest = rest[..<slash]
        return rest
    }
}

extension Restic {
    /// Adds every entry of a snapshot to a result, except those that exist only because of the
    /// record: in the order of ``pathPrecedes(_:_:)``, a directory, then its entries by the bytes of
    /// their names, each with everything below it.
    ///
    /// `ls --json` reports everything about an entry except the bytes of its name that are not
    /// UTF-8. From the first such name on, no entry is passed on, and a second listing without
    /// JSON, in the same order, supplies the names. Since that listing ends names with a newline,
    /// which names may contain too, it is split by the lengths from the first one. A third listing,
    /// like the first, then supplies the remaining entries.
    ///
    /// - Parameters:
    ///   - identifier: the snapshot's identifier, or enough of its first digits to be unique.
    ///   - path: the path to which the reading is limited, with everything below it; nil for no
    ///     limit.
    ///   - usesCache: whether directories may be read from restic's cache, where the loss of one in
    ///     the repository does not show.
    ///   - result: what is known before the first entry.
    ///   - add: adds an entry, whose path is exact.
    package func readEntries<Result: Sendable>(
        of identifier: String, below path: [UInt8]? = nil, usesCache: Bool = true,
        into result: Result, add: @escaping @Sendable (inout Result, SnapshotEntry) -> Void
    ) async throws(BackupError) -> Result {
        var list = ResticCommand("ls", usesCache ? [] : words("--no-cache"), on: words(identifier))
        if let path {
            list.options += words("--recursive")
            list.operands.append(path)
        }
        var json = list
        json.options += words("--json")
        // The head of the second listing prints the path, too.
        let headLines = 1 + (path ?? []).count { $0 == newline }
        let first = try await run(
            json, reading: Lines(EntryReader(result: result, add: add, headLineCount: headLines))
        ).consumer
        // restic exits with 0 when it skips a snapshot that it cannot read.
        guard first.hasHead else {
            throw BackupError(
                .damaged, "snapshot \(identifier.prefix(8)) cannot be read, or does not exist",
                advice: "check the repository: resval-backup verify")
        }
        guard !first.incomplete.isEmpty else { return first.result }
        let reader = ExactNameReader(
            lengths: first.lengths, incomplete: first.incomplete, headLinesLeft: first.headLineCount
        )
        let names = try await run(list, reading: reader).names
        let rest = EntryReader(
            result: first.result, add: add, skippedCount: first.deliveredCount, names: names)
        return try await run(json, reading: Lines(rest)).consumer.result
    }
}

private struct EntryReader<Result: Sendable>: LineConsumer {
    var result: Result
    let add: @Sendable (inout Result, SnapshotEntry) -> Void
    /// The number of newlines in the head of the second listing, as far as it is known.
    var headLineCount = 1
    /// The number of entries at the start that were added before.
    var skippedCount = 0
    /// Exact paths, by the numbers of their entries.
    var names: [Int: [UInt8]] = [:]
    /// The length of every entry's path, in order.
    var lengths: [UInt32] = []
    /// The paths with lost bytes whose exact form is not known, by the numbers of their entries.
    var incomplete: [Int: [UInt8]] = [:]
    var hasHead = false
    var deliveredCount = 0
    var record: RecordPath?

    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError) {
        let found = try parsing("ls") { () throws(JSONError) in
            let entry = try SnapshotEntry.reading(line)
            if entry == nil { try readHead(line) }
            return entry
        }
        guard var entry = found else { return }
        let number = lengths.count
        lengths.append(UInt32(clamping: entry.path.count))
        if entry.hasLostBytes {
            guard let name = names[number] else {
                incomplete[number] = entry.path
                return
            }
            entry.path = name
        }
        guard incomplete.isEmpty else { return }
        deliveredCount = number + 1
        guard number >= skippedCount, record?.hides(entry.path) != true else { return }
        add(&result, entry)
    }

    /// Parses the line about the snapshot. The head of the second listing prints the snapshot's
    /// paths unescaped.
    private mutating func readHead(_ line: ArraySlice<UInt8>) throws(JSONError) {
        var tags: [String] = []
        var scanner = JSONScanner(line)
        try scanner.forEachField { scanner, name throws(JSONError) in
            switch name {
            case "paths":
                try scanner.forEachElement { scanner throws(JSONError) in
                    headLineCount += try scanner.string().count { $0 == newline }
                }
            case "tags": tags = try scanner.texts()
            default: break
            }
        }
        hasHead = true
        record = RecordPath(tags: tags, sources: SnapshotTags(tags).sources)
    }
}

/// Parses `ls` in step with the results of `ls --json`.
private struct ExactNameReader: OutputConsumer {
    /// The exact paths of the incomplete entries, by number.
    var names: [Int: [UInt8]] = [:]
    let lengths: [UInt32]
    let incomplete: [Int: [UInt8]]
    var headLinesLeft: Int
    var number = 0
    var path: [UInt8] = []

    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        for byte in bytes {
            if headLinesLeft > 0 {
                if byte == newline { headLinesLeft -= 1 }
            } else if number < lengths.count, path.count < Int(lengths[number]) {
                path.append(byte)
            } else {
                guard byte == newline, number < lengths.count else { throw outOfStep }
                try endPath()
            }
        }
    }

    mutating func finish() throws(BackupError) {
        guard number == lengths.count, path.isEmpty else { throw outOfStep }
    }

    private mutating func endPath() throws(BackupError) {
        if let reported = incomplete[number] {
            guard printedName(path) == reported else { throw outOfStep }
            names[number] = path
        }
        number += 1
        path.removeAll(keepingCapacity: true)
    }

    private var outOfStep: BackupError {
        BackupError(
            .unexpectedAnswer, "two listings of the snapshot do not agree",
            advice: "tested with restic 0.18; to show yours: restic version")
    }
}

private let newline = UInt8(ascii: "\n")

extension SnapshotEntry {
    /// Whether the path contains bytes that `ls --json` could not represent.
    var hasLostBytes: Bool { path.contains(JSONScanner.lostByte) }

    /// Parses a line of `restic ls --json`.
    ///
    /// - Returns: nil when the line does not describe an entry.
    static func reading(_ line: ArraySlice<UInt8>) throws(JSONError) -> SnapshotEntry? {
        var (isNode, path, kind) = (false, [UInt8](), FileKind.unknown)
        var (size, mode, time) = (Int64(0), Int64(0), [UInt8]())
        var (owner, group) = (Int64(0), Int64(0))
        var scanner = JSONScanner(line)
        try scanner.forEachField { scanner, name throws(JSONError) in
            switch name {
            case "struct_type": isNode = try scanner.text() == "node"
            case "path": path = try scanner.string()
            case "type": kind = FileKind(resticName: try scanner.text())
            case "size": size = try scanner.amount()
            case "mode": mode = try scanner.integer()
            case "uid": owner = try scanner.integer()
            case "gid": group = try scanner.integer()
            case "mtime": time = try scanner.string()
            default: break
            }
        }
        guard isNode else { return nil }
        guard let modified = FileTime(rfc3339: time), !path.isEmpty else {
            throw JSONError(offset: 0)
        }
        return SnapshotEntry(
            path: path, kind: kind, size: size, modified: modified,
            permissions: UInt16(truncatingIfNeeded: mode & 0o777),
            owner: UInt32(truncatingIfNeeded: owner),
            group: UInt32(truncatingIfNeeded: group), hasSetID: mode & goSetIDs != 0)
    }
}

/// Set-user-ID and set-group-ID in the modes that restic prints, which are Go's.
private let goSetIDs: Int64 = 1 << 23 | 1 << 22

extension FileKind {
    /// Creates the kind with restic's name; `unknown` for any other name.
    init(resticName: String) {
        switch resticName {
        case "file": self = .regularFile
        case "dir": self = .directory
        case "symlink": self = .symbolicLink
        case "fifo": self = .fifo
        case "socket": self = .socket
        case "chardev": self = .characterDevice
        case "dev": self = .blockDevice
        default: self = .unknown
        }
    }
}
