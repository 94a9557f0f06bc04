import SystemPackage

extension Restic {
    /// Returns the items whose blobs are damaged or missing.
    func lostItems(_ damage: DamagedPacks) async throws(BackupError) -> [LostItem] {
        var identifiers = Set(damage.missingBlobs)
        if repository.directory != nil, !damage.names.isEmpty {
            let key = try await packKey()
            let packs = try await packs(named: damage.names)
            for (pack, blobs) in packs {
                let salvage = try await salvage(pack, blobs, key)
                identifiers.formUnion(salvage.damaged.map(\.identifier))
                // restic does not search for copies.
                identifiers.subtract(salvage.intact.map(\.identifier))
            }
            // A blob that another pack contains as well is not lost.
            let others = try await self.packs { pack, blob in
                packs[pack] == nil && identifiers.contains(blob.identifier)
            }
            identifiers.subtract(others.values.joined().map(\.identifier))
        }
        guard !identifiers.isEmpty else { return [] }
        return try await items(holding: identifiers.sorted())
    }

    private func items(holding identifiers: [String]) async throws(BackupError) -> [LostItem] {
        var found = FoundItems()
        for start in stride(from: 0, to: identifiers.count, by: 10_000) {
            let part = identifiers[start..<min(start + 10_000, identifiers.count)]
            found = try await find("--blob", part, found)
        }
        let snapshots = try await snapshots(SnapshotFilter())
        let lost = Set(identifiers)
        var items = snapshots.filter { lost.contains($0.root) }
            .map { LostItem(path: [slash], isDirectory: true, snapshots: [$0]) }
        items += try await directories(lost, in: snapshots)
        for (item, concerned) in found.snapshots {
            items.append(
                LostItem(
                    path: item, isDirectory: false,
                    snapshots: snapshots.filter { concerned.contains($0.identifier) }))
        }
        return try await withExactPaths(items)
            .sorted { $0.path.lexicographicallyPrecedes($1.path) }
    }

    /// Returns the directories that cannot be read: restic names only their parents.
    private func directories(
        _ lost: Set<String>, in snapshots: [Snapshot]
    ) async throws(BackupError) -> [LostItem] {
        guard let any = lost.first else { return [] }
        let reported = try await run(
            findCommand("--tree", [any], words()), reading: Lines(UnreadableTrees())
        ).consumer
        var items: [LostItem] = []
        for (parent, concerned) in reported.parents {
            let (output, end) = try await attempt(
                ResticCommand("cat", words("--no-cache"), on: words("blob", parent)),
                reading: WholeOutput())
            // The root of a snapshot is reported as its own parent.
            guard end.code == 0 else { continue }
            let names: [[UInt8]]
            do throws(JSONError) {
                names = try TreeNode.reading(output.bytes)
                    .filter { $0.subtree.map(lost.contains) ?? false }.map(\.name)
            } catch {
                throw .unexpectedAnswer(error, to: "cat blob")
            }
            let concerned = snapshots.filter { concerned.contains($0.identifier) }
            var path: [UInt8] = []
            if !concerned.contains(where: { $0.root == parent }) {
                path = try await find("--tree", [parent], FoundItems()).snapshots.keys.first ?? []
            }
            items += names.map {
                LostItem(path: path + [slash] + $0, isDirectory: true, snapshots: concerned)
            }
        }
        return items
    }

    private func find(
        _ kind: String, _ identifiers: some Collection<String>, _ found: FoundItems
    ) async throws(BackupError) -> FoundItems {
        try await run(findCommand(kind, identifiers, words("--json")), reading: found)
    }

    /// Returns a `find` command. It bypasses the cache, which may contain data from a damaged pack.
    private func findCommand(
        _ kind: String, _ identifiers: some Collection<String>, _ options: [[UInt8]]
    ) -> ResticCommand {
        ResticCommand(
            "find", options + words("--no-cache", kind), on: identifiers.map { Array($0.utf8) })
    }

    /// Replaces the names that `find --json` cannot report exactly, as far as the snapshots can be
    /// listed.
    private func withExactPaths(_ items: [LostItem]) async throws(BackupError) -> [LostItem] {
        var result: [LostItem] = []
        for var item in items {
            var exact: [[UInt8]] = []
            if item.path.contains(JSONScanner.lostByte), !item.isDirectory,
                let snapshot = item.snapshots.last
            {
                do throws(BackupError) {
                    exact = try await readEntries(
                        of: snapshot.identifier, with: SimilarPaths(item.path)
                    ).paths
                } catch  where error.code != .interrupted {
                    // A damaged snapshot may not be listable.
                }
                if exact.isEmpty {
                    item.path = Array(String(decoding: item.path, as: UTF8.self).utf8)
                    item.isExact = false
                }
            }
            for path in exact.isEmpty ? [item.path] : exact {
                item.path = path
                result.append(item)
            }
        }
        return result
    }
}

private let slash = UInt8(ascii: "/")

/// Parses `find --json`.
private struct FoundItems: OutputConsumer {
    /// The identifiers of the snapshots that contain each item, by its path.
    private(set) var snapshots: [[UInt8]: Set<String>] = [:]
    private var elements = JSONElements()

    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        do throws(JSONError) {
            try elements.append(bytes) { element throws(JSONError) in
                let (path, snapshot) = try Self.read(element)
                if !path.isEmpty { snapshots[path, default: []].insert(snapshot) }
            }
        } catch {
            throw .unexpectedAnswer(error, to: "find")
        }
    }

    mutating func finish() { elements = JSONElements() }

    private static func read(
        _ element: ArraySlice<UInt8>
    ) throws(JSONError) -> (path: [UInt8], snapshot: String) {
        var snapshot = ""
        var path: [UInt8] = []
        var scanner = JSONScanner(element)
        try scanner.forEachField { scanner, field throws(JSONError) in
            switch field {
            case "path": path = try scanner.string()
            case "snapshot": snapshot = try scanner.text()
            default: break
            }
        }
        return (path, snapshot)
    }
}

/// Parses what `find` prints about directories that cannot be read. Lines with names begin
/// differently. A name with a newline can imitate such a line, but refers to a tree that does not
/// exist.
private struct UnreadableTrees: LineConsumer {
    /// The trees above them, each with the identifiers of the snapshots that contain it.
    private(set) var parents: [String: Set<String>] = [:]
    private var last: String?

    mutating func receive(line: ArraySlice<UInt8>) {
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard let identifier = words.last.map({ $0.prefix(64) }).map(String.init),
            identifier.isResticIdentifier
        else { return }
        if words.starts(with: ["Unable", "to", "load", "tree"]) {
            last = identifier
        } else if words.starts(with: ["...", "which", "belongs", "to", "snapshot"]), let last {
            parents[last, default: []].insert(identifier)
        }
    }
}

/// Finds the paths that a path with lost bytes may represent.
private struct SimilarPaths: SnapshotEntryHandler {
    private(set) var paths: [[UInt8]] = []
    private let path: [UInt8]

    init(_ path: [UInt8]) { self.path = path }

    mutating func receive(_ entry: SnapshotEntry) {
        if agree(path, entry.path) { paths.append(entry.path) }
    }
}

/// Whether a path with lost bytes may be the same as an exact one.
func agree(_ reported: [UInt8], _ exact: [UInt8]) -> Bool {
    reported.count == exact.count
        && zip(reported, exact).allSatisfy { $0 == $1 || $0 == JSONScanner.lostByte }
}
