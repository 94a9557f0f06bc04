import SystemCalls
import SystemPackage

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
            tags: snapshot.allTags, sources: SourceTags.sources(in: snapshot.allTags))
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
