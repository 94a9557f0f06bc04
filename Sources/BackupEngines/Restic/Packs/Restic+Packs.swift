import SystemCalls
import SystemPackage

extension Restic {
    /// Returns what reads the repository without restic; nil if it is not a directory of this
    /// machine, or cannot be read so.
    func repositoryReader() async -> RepositoryReader? {
        guard repository.directory != nil else { return nil }
        let task = reader.withLock { task in
            let current = task ?? Task { await makeReader() }
            task = current
            return current
        }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func makeReader() async -> RepositoryReader? {
        do throws(BackupError) {
            try checkExistence()
            return RepositoryReader(
                FilePath(bytes: repository.absoluteBytes), try await packKey())
        } catch {
            // restic, which is asked then, reports what is wrong.
            return nil
        }
    }

    package func prepareReading() async { _ = await repositoryReader() }

    /// Returns the entries of a directory.
    ///
    /// - Parameter identifier: the identifier of its tree.
    func nodes(ofTree identifier: String) async throws(BackupError) -> [TreeNode] {
        if let nodes = await repositoryReader()?.tree(identifier) { return nodes }
        let output = try await run(
            ResticCommand("cat", on: words("blob", identifier)), reading: WholeOutput())
        do throws(JSONError) {
            return try TreeNode.reading(output.bytes)
        } catch {
            throw .unexpectedAnswer(error, to: "cat blob")
        }
    }

    /// Returns the key that packs are sealed with.
    func packKey() async throws(BackupError) -> PackKey {
        let output = try await run(
            // The key never changes, and needs no lock.
            ResticCommand("cat", words("--no-lock"), on: words("masterkey")),
            reading: WholeOutput())
        do throws(JSONError) {
            return try PackKey(json: output.bytes)
        } catch {
            throw .unexpectedAnswer(error, to: "cat masterkey")
        }
    }

    /// Returns the index's information about packs.
    ///
    /// - Parameter isWanted: whether a blob of a pack is wanted.
    /// - Returns: the wanted blobs by the identifiers of their packs, sorted by offset.
    func packs(
        where isWanted: (_ pack: String, _ blob: PackBlob) -> Bool
    ) async throws(BackupError) -> [String: [PackBlob]] {
        let list = try await run(
            ResticCommand("list", on: words("index")), reading: WholeOutput())
        // Two indexes can describe the same pack while one replaces the other.
        var packs: [String: Set<PackBlob>] = [:]
        for line in list.bytes.split(separator: UInt8(ascii: "\n")) {
            let identifier = String(decoding: line, as: UTF8.self)
            guard identifier.isResticIdentifier else { continue }
            let output = try await run(
                ResticCommand("cat", on: words("index", identifier)), reading: WholeOutput())
            do throws(JSONError) {
                try PackBlob.forEachPack(inIndex: output.bytes) { pack, blobs in
                    let wanted = blobs.filter { isWanted(pack, $0) }
                    if !wanted.isEmpty { packs[pack, default: []].formUnion(wanted) }
                }
            } catch {
                throw .unexpectedAnswer(error, to: "cat index")
            }
        }
        return packs.mapValues { blobs in
            blobs.sorted { ($0.offset, $0.identifier) < ($1.offset, $1.identifier) }
        }
    }

    /// Returns what can be read of a pack, in the repository or in a cache on this machine.
    func salvage(
        _ pack: String, _ blobs: [PackBlob], _ key: PackKey
    ) async throws(BackupError) -> PackSalvage {
        let own = packFile(pack)
        var salvage = PackSalvage(
            of: blobs, from: (own.map { [$0] } ?? []) + cachedPackFiles(pack), key: key)
        guard salvage.damaged.isEmpty, own.flatMap(digest) == pack else { return salvage }
        // The pack is as it was written, so the damage dates from before it was sealed.
        for blob in salvage.intact {
            let (_, end) = try await attempt(
                ResticCommand("cat", words("--no-cache"), on: words("blob", blob.identifier)),
                reading: NoOutput())
            if end.code != 0 { salvage.drop(blob) }
        }
        return salvage
    }
}

/// The parts of a pack that can be read.
struct PackSalvage {
    /// The blobs that are intact, in order.
    private(set) var intact: [PackBlob] = []
    /// The blobs that are not.
    private(set) var damaged: [PackBlob] = []
    private var content: [UInt8] = []

    /// Reads each blob separately, from the repository or else from a copy of the pack in a cache.
    ///
    /// - Parameters:
    ///   - blobs: the blobs of the pack.
    ///   - files: the pack's own file and its copies, those that exist.
    init(of blobs: [PackBlob], from files: [FilePath], key: PackKey) {
        let opened = files.compactMap { OpenPack($0) }
        for blob in blobs {
            let sealed = opened.lazy.compactMap { $0.read(blob) }.first { key.isIntact($0[...]) }
            if let sealed {
                intact.append(blob)
                content += sealed
            } else {
                damaged.append(blob)
            }
        }
    }

    /// Moves a blob from the intact ones to the damaged ones.
    mutating func drop(_ blob: PackBlob) {
        var start = 0
        for (index, other) in intact.enumerated() {
            if other == blob {
                intact.remove(at: index)
                damaged.append(blob)
                return content.removeSubrange(start..<start + blob.length)
            }
            start += other.length
        }
    }

    /// Returns a pack of the intact blobs.
    func pack(_ key: PackKey) -> [UInt8] {
        let header = key.sealing(intact.flatMap(\.headerEntry))
        return content + header + littleEndian(header.count)
    }
}

/// A pack, opened for reading.
final class OpenPack {
    private let file: OwnedDescriptor

    /// - Returns: nil for a file that cannot be opened.
    init?(_ path: FilePath) {
        do throws(Errno) {
            file = OwnedDescriptor(try openForReading(path))
        } catch {
            // Treated like a file of which nothing can be read.
            return nil
        }
    }

    /// Returns the sealed bytes of a blob; nil when they cannot be read.
    func read(_ blob: PackBlob) -> [UInt8]? {
        do throws(Errno) {
            let size = try file.descriptor.status().size
            guard Int64(blob.offset + blob.length) <= size else { return nil }
            let buffer = UnsafeMutableRawBufferPointer.allocate(
                byteCount: blob.length, alignment: 16)
            defer { buffer.deallocate() }
            var count = 0
            while count < blob.length {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                let read = try readFile(file.descriptor, at: Int64(blob.offset + count), into: rest)
                if read == 0 { return nil }
                count += read
            }
            return Array(buffer)
        } catch {
            // A bad sector: these bytes are lost, but others may be readable.
            return nil
        }
    }
}
