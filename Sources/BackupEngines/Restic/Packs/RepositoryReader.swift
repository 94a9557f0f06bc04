import Eviction
import SystemCalls
import SystemPackage

/// Reads a repository that is a directory of this machine, without starting restic.
///
/// Everything is verified: that it has not changed, by its authentication code, and that a snapshot,
/// an index or a blob is the right one, by its SHA-256. Functions return nil for anything that cannot
/// be read or is not as expected, such as a newer format, damage, or a pack that a prune has just
/// removed, since no lock is taken; also when the snapshots change while they are listed. The caller then runs restic, which reports what is wrong.
final class RepositoryReader: Sendable {
    private let directory: FilePath
    private let key: PackKey
    private let index = Monitor(TreeIndex())

    /// The greatest size of a file other than a pack, and of a directory's tree, in bytes.
    static let limit = 64 << 20

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

    /// Returns all snapshots; nil also if one was added or removed meanwhile: a listing of a directory
    /// may contain neither the old nor the new file of a snapshot whose tags are changed.
    ///
    /// - Parameter isCancelled: asked before each snapshot.
    /// - Throws: ``BackupError``: `interrupted`.
    func snapshots(unless isCancelled: () -> Bool) throws(BackupError) -> [Snapshot]? {
        guard let names = identifiers(in: "snapshots").map(Set.init) else { return nil }
        var snapshots: [Snapshot] = []
        for name in names {
            if isCancelled() { throw .interrupted }
            guard let snapshot = readSnapshot(name) else { return nil }
            snapshots.append(snapshot)
        }
        return identifiers(in: "snapshots").map(Set.init) == names ? snapshots : nil
    }

    /// Returns a snapshot.
    ///
    /// - Parameter digits: its identifier, or enough of its first digits to be unique.
    func snapshot(_ digits: String) -> Snapshot? {
        let found = identifiers(in: "snapshots")?.filter { $0.hasPrefix(digits) }
        guard let found, found.count == 1 else { return nil }
        return readSnapshot(found[0])
    }

    private func readSnapshot(_ identifier: String) -> Snapshot? {
        guard let json = file("snapshots", identifier) else { return nil }
        return try? Snapshot(json: json[...], identifier: identifier)
    }

    /// Returns where data of files is; nil if the index cannot be read, or lacks any of it.
    func places(
        ofData identifiers: Set<String>, unless isCancelled: () -> Bool
    ) throws(BackupError) -> [String: BlobPlace]? {
        var places: [String: BlobPlace] = [:]
        guard let names = self.identifiers(in: "index") else { return nil }
        for name in newestLast(names).reversed() where places.count < identifiers.count {
            if isCancelled() { throw .interrupted }
            let isRead = forEachPack(ofIndex: name) { pack, blobs in
                for blob in blobs
                where !blob.isTree && identifiers.contains(blob.identifier)
                    && places[blob.identifier] == nil
                {
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
            guard let names = identifiers(in: "index").map(Set.init) else { return nil }
            // A backup adds to the index, and a prune replaces parts of it.
            if !names.isSuperset(of: index.read.union(index.unread)) { index = TreeIndex() }
            index.unread += newestLast(names.subtracting(index.read.union(index.unread)))
            while let name = index.unread.popLast() {
                let isRead = forEachPack(ofIndex: name) { pack, blobs in
                    for blob in blobs where blob.isTree && index.places[blob.identifier] == nil {
                        index.places[blob.identifier] = (pack, blob)
                    }
                }
                guard isRead else { return nil }
                index.read.insert(name)
                if let place = index.places[identifier] { return place }
            }
            return nil
        }
    }

    /// Sorts files of the index by their times: the last ones have what the latest backup wrote.
    private func newestLast(_ names: some Collection<String>) -> [String] {
        names.map { name in
            let file = directory.appending("index").appending(name)
            let status = try? file.withoutFollowing.status()
            let written = status?.contentModificationTime
            return (name, written: written ?? FileTime(seconds: 0, nanoseconds: 0))
        }.sorted { $0.written < $1.written }.map(\.0)
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

    func blob(_ identifier: String, at place: BlobPlace?) -> [UInt8]? {
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

    private func identifiers(in kind: FilePath.Component) -> [String]? {
        var found: [String] = []
        do throws(Errno) {
            try forEachName(in: directory.appending(kind)) { name in
                let name = String(decoding: name, as: UTF8.self)
                if name.isResticIdentifier { found.append(name) }
                return true
            }
        } catch {
            return nil
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
    var read: Set<String> = []
    /// The files still to be read; the last one is next.
    var unread: [String] = []
    var places: [String: BlobPlace] = [:]
}

typealias BlobPlace = (pack: String, blob: PackBlob)
