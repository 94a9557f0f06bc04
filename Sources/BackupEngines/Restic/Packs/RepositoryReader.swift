import Eviction
import SystemCalls
import SystemPackage

/// Reads a repository that is a directory of this machine, without starting restic.
///
/// Everything is verified: that it has not changed, by its authentication code, and that a snapshot,
/// an index or a blob is the right one, by its SHA-256. Functions return nil for anything that cannot
/// be read or is not as expected, such as a newer format, damage, or a pack that a prune has just
/// removed, since no lock is taken. The caller then runs restic, which reports what is wrong.
final class RepositoryReader: Sendable {
    private let directory: FilePath
    private let key: PackKey
    private let index = Monitor(TreeIndex())

    /// The greatest size of a file other than a pack, and of a directory's tree, in bytes.
    private static let limit = 64 << 20

    /// - Parameter directory: the repository's directory, as an absolute path.
    /// - Returns: nil if the repository has a format other than the versions 1 and 2.
    init?(_ directory: FilePath, _ key: PackKey) {
        self.directory = directory
        self.key = key
        guard let config, (1...2).contains(config.version) else { return nil }
    }

    /// What identifies the repository, as it is now.
    var config: ResticConfig? {
        guard let sealed = try? contentsOfFile(directory.appending("config"), limit: 1 << 20),
            let json = content(ofFile: sealed)
        else { return nil }
        return try? ResticConfig(json: json)
    }

    /// Returns the content of a directory's tree.
    func tree(_ identifier: String) -> [TreeNode]? {
        guard let json = blob(identifier, at: place(ofTree: identifier)) else { return nil }
        return try? TreeNode.reading(json)
    }

    /// Returns a snapshot: its full identifier, the identifier of its root's tree, and its tags.
    ///
    /// - Parameter digits: its identifier, or enough of its first digits to be unique.
    private func snapshot(
        _ digits: String
    ) -> (identifier: String, root: String, tags: [String])? {
        let found = identifiers(in: "snapshots").filter { $0.hasPrefix(digits) }
        guard found.count == 1, let json = file("snapshots", found[0]) else { return nil }
        var (root, tags) = ("", [String]())
        do throws(JSONError) {
            var scanner = JSONScanner(json[...])
            try scanner.forEachField { scanner, field throws(JSONError) in
                switch field {
                case "tree": root = try scanner.text()
                case "tags": tags = try scanner.texts()
                default: break
                }
            }
        } catch {
            return nil
        }
        return (found[0], root, tags)
    }

    /// Returns where data of files is; nil if the index cannot be read, or lacks any of it.
    private func places(
        ofData identifiers: Set<String>, unless isCancelled: () -> Bool
    ) throws(BackupError) -> [String: BlobPlace]? {
        var places: [String: BlobPlace] = [:]
        for name in self.identifiers(in: "index") where places.count < identifiers.count {
            if isCancelled() { throw .interrupted }
            let isRead = forEachPack(ofIndex: name) { pack, blobs in
                for blob in blobs where !blob.isTree && identifiers.contains(blob.identifier) {
                    places[blob.identifier] = (pack, blob)
                }
            }
            guard isRead else { return nil }
        }
        return places.count == identifiers.count ? places : nil
    }

    private func place(ofTree identifier: String) -> BlobPlace? {
        index.withLock { index in
            if let place = index.places[identifier] { return place }
            // A backup adds to the index, and a prune replaces parts of it.
            let names = Set(identifiers(in: "index"))
            if !index.files.isSubset(of: names) { index = TreeIndex() }
            for name in names.subtracting(index.files) {
                let isRead = forEachPack(ofIndex: name) { pack, blobs in
                    for blob in blobs where blob.isTree {
                        index.places[blob.identifier] = (pack, blob)
                    }
                }
                guard isRead else { return nil }
                index.files.insert(name)
            }
            return index.places[identifier]
        }
    }

    private func forEachPack(
        ofIndex name: String, _ body: (_ pack: String, _ blobs: [PackBlob]) -> Void
    ) -> Bool {
        guard let json = file("index", name) else { return false }
        do throws(JSONError) {
            try PackBlob.forEachPack(inIndex: json, body)
            return true
        } catch {
            return false
        }
    }

    private func blob(_ identifier: String, at place: BlobPlace?) -> [UInt8]? {
        guard let (pack, blob) = place, blob.length <= Self.limit else { return nil }
        let path = directory.appending("data").appending(String(pack.prefix(2))).appending(pack)
        guard let stored = OpenPack(path)?.read(blob).flatMap({ key.opening($0[...]) }) else {
            return nil
        }
        let content =
            if let length = blob.uncompressedLength {
                decompressed(stored[...], limit: min(length, Self.limit))
            } else {
                Optional(stored)
            }
        guard let content, SHA256.digest(of: content) == identifier else { return nil }
        return content
    }

    /// Returns the content of a file that is named by its SHA-256.
    private func file(_ kind: FilePath.Component, _ name: String) -> [UInt8]? {
        let path = directory.appending(kind).appending(name)
        guard let sealed = try? contentsOfFile(path, limit: Self.limit),
            SHA256.digest(of: sealed) == name
        else { return nil }
        return content(ofFile: sealed)
    }

    private func content(ofFile sealed: [UInt8]) -> [UInt8]? {
        guard let stored = key.opening(sealed[...]) else { return nil }
        switch stored.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return stored
        // What follows is compressed.
        case 2: return decompressed(stored.dropFirst(), limit: Self.limit)
        default: return nil
        }
    }

    private func identifiers(in kind: FilePath.Component) -> [String] {
        var found: [String] = []
        // Where the directory cannot be read, what is wanted is not found.
        try? forEachName(in: directory.appending(kind)) { name in
            let name = String(decoding: name, as: UTF8.self)
            if name.isResticIdentifier { found.append(name) }
            return true
        }
        return found
    }
}

/// What identifies a repository: its file `config`.
struct ResticConfig {
    private(set) var version: Int64 = 0
    private(set) var identifier = ""

    /// Parses the file, as `restic cat config` prints it.
    init(json: [UInt8]) throws(JSONError) {
        var scanner = JSONScanner(json[...])
        try scanner.forEachField { scanner, field throws(JSONError) in
            switch field {
            case "version": version = try scanner.amount()
            case "id": identifier = try scanner.text()
            default: break
            }
        }
    }
}

/// Where the trees of a repository are, as far as its index was read.
private struct TreeIndex {
    var files: Set<String> = []
    var places: [String: BlobPlace] = [:]
}

private typealias BlobPlace = (pack: String, blob: PackBlob)

/// How far the entries of a snapshot were passed on.
struct PartialReading<Handler: SnapshotEntryHandler>: Sendable {
    /// The handler after the entries that it received.
    var handler: Handler
    /// The number of entries that were read, those that exist only because of the record included.
    var count = 0
    /// Whether there are no more.
    var isComplete = false
}

extension RepositoryReader {
    /// Passes entries of a snapshot to a handler, as ``Restic/readEntries(of:below:with:)`` does, up
    /// to the first directory that cannot be read.
    ///
    /// - Parameter isCancelled: asked before each entry.
    /// - Throws: ``BackupError``: the handler's error; `interrupted`.
    func readEntries<Handler: SnapshotEntryHandler>(
        of digits: String, below path: [UInt8]?, with handler: Handler,
        unless isCancelled: () -> Bool
    ) throws(BackupError) -> PartialReading<Handler> {
        var reading = PartialReading(handler: handler)
        guard let snapshot = snapshot(digits) else { return reading }
        let record = RecordPath(
            tags: snapshot.tags, sources: SourceTags.sources(in: snapshot.tags))
        reading.handler.receive(identifier: snapshot.identifier)
        reading.isComplete = try forEachNode(from: snapshot.root, below: path) {
            path, node throws(BackupError) in
            if isCancelled() { throw .interrupted }
            guard let modified = node.modified else { return false }
            if record?.hides(path) != true {
                try reading.handler.receive(
                    SnapshotEntry(
                        path: path, kind: node.kind, size: node.size, modified: modified,
                        permissions: node.permissions))
            }
            reading.count += 1
            return true
        }
        return reading
    }

    /// Passes the content of files on, as ``Restic/readContents(below:in:with:)`` does, up to the first
    /// that cannot be read.
    ///
    /// - Parameter isCancelled: asked before each piece.
    /// - Returns: false if nothing was passed on, because a directory cannot be read or there are too
    ///   many files for a list in memory.
    /// - Throws: ``BackupError``: `interrupted`.
    func readContents(
        below directory: [UInt8], in digits: String, unless isCancelled: () -> Bool,
        with consumer: (_ path: [UInt8]) -> (any OutputConsumer)?
    ) throws(BackupError) -> Bool {
        guard let root = snapshot(digits)?.root else { return false }
        var files: [(path: [UInt8], size: Int64, content: [String])] = []
        var room = 1 << 20
        let isWhole = try forEachNode(from: root, below: directory) {
            path, node throws(BackupError) in
            if isCancelled() { throw .interrupted }
            room -= 1 + node.content.count
            if node.kind == .regularFile { files.append((path, node.size, node.content)) }
            return room >= 0
        }
        let blobs = Set(files.lazy.flatMap(\.content))
        guard isWhole, let places = try places(ofData: blobs, unless: isCancelled) else {
            return false
        }
        for (path, size, content) in files {
            guard var consumer = consumer(path) else { continue }
            do throws(BackupError) {
                var count: Int64 = 0
                for identifier in content {
                    if isCancelled() { throw .interrupted }
                    guard let bytes = blob(identifier, at: places[identifier]) else { return true }
                    try consumer.receive(bytes)
                    count += Int64(bytes.count)
                }
                guard count == size else { return true }
                try consumer.finish()
            } catch  where error.code != .interrupted {
                // The consumer refused this file; the next one may be as it should.
            }
        }
        return true
    }

    /// Returns the content of a small file in a snapshot; nil if it cannot be read.
    ///
    /// - Throws: ``BackupError``: `interrupted`.
    func content(
        of path: [UInt8], in digits: String, unless isCancelled: () -> Bool
    ) throws(BackupError) -> [UInt8]? {
        guard let root = snapshot(digits)?.root else { return nil }
        var file: TreeNode?
        let isFound = try forEachNode(from: root, below: path) { found, node in
            if found == path, node.kind == .regularFile { file = node }
            return true
        }
        guard isFound, let file, file.size <= Self.limit,
            let places = try places(ofData: Set(file.content), unless: isCancelled)
        else { return nil }
        var content: [UInt8] = []
        for identifier in file.content {
            guard let bytes = blob(identifier, at: places[identifier]),
                content.count + bytes.count <= file.size
            else { return nil }
            content += bytes
        }
        return content.count == file.size ? content : nil
    }

    /// Passes on the entries below a directory, and itself, in a snapshot's order.
    ///
    /// What a client of the repository stores may have names in another order, or paths and
    /// directories without limit: restic sorts, and has to take the memory.
    ///
    /// - Parameters:
    ///   - root: the identifier of the snapshot's tree.
    ///   - path: the directory's absolute path; nil for all.
    ///   - body: returns false to end.
    /// - Returns: whether all were passed on.
    private func forEachNode(
        from root: String, below path: [UInt8]?,
        _ body: (_ path: [UInt8], _ node: TreeNode) throws(BackupError) -> Bool
    ) throws(BackupError) -> Bool {
        var directories: [(path: [UInt8], nodes: ArraySlice<TreeNode>, cost: Int)] = []
        var room = Self.limit
        func open(_ identifier: String?, _ path: [UInt8]) -> Bool {
            guard let nodes = identifier.flatMap(tree), isInOrder(nodes) else { return false }
            let cost = path.count + 100 * nodes.count
            room -= cost
            directories.append((path, nodes[...], cost))
            return room >= 0
        }
        guard open(root, []) else { return false }
        while let last = directories.indices.last {
            guard let node = directories[last].nodes.popFirst() else {
                room += directories.removeLast().cost
                continue
            }
            let own = directories[last].path + [slash] + node.name
            guard node.hasPlainName, own.count < 1 << 16 else { return false }
            let isWanted = path.map { isHeld(own, by: $0) } ?? true
            if isWanted {
                guard try body(own, node) else { return false }
            }
            let leadsToWanted = isWanted || path.map { isHeld($0, by: own) } ?? false
            guard node.kind == .directory, leadsToWanted else { continue }
            guard open(node.subtree, own) else { return false }
        }
        return true
    }
}

private func isInOrder(_ nodes: [TreeNode]) -> Bool {
    zip(nodes, nodes.dropFirst()).allSatisfy { $0.name.lexicographicallyPrecedes($1.name) }
}

extension TreeNode {
    /// Whether the name is that of an entry of a directory.
    fileprivate var hasPlainName: Bool { RelativePath(name)?.names.count == 1 }
}

private let slash = UInt8(ascii: "/")
