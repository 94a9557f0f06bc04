import SystemCalls
import SystemPackage

extension Restic {
    /// Returns the key that packs are sealed with.
    func packKey() async throws(BackupError) -> PackKey {
        let output = try await run(
            ResticCommand("cat", on: words("masterkey")), reading: WholeOutput())
        do throws(JSONError) {
            return try PackKey(json: output.bytes)
        } catch {
            throw .unexpectedAnswer(error, to: "cat masterkey")
        }
    }

    /// Returns the index's information about packs.
    ///
    /// - Parameter isWanted: whether a blob of a pack is wanted.
    /// - Returns: the wanted blobs by the identifiers of their packs.
    func packs(
        where isWanted: (_ pack: String, _ blob: PackBlob) -> Bool
    ) async throws(BackupError) -> [String: [PackBlob]] {
        let list = try await run(
            ResticCommand("list", on: words("index")), reading: WholeOutput())
        var index = PackIndex()
        for line in list.bytes.split(separator: UInt8(ascii: "\n")) {
            let identifier = String(decoding: line, as: UTF8.self)
            guard identifier.isResticIdentifier else { continue }
            let output = try await run(
                ResticCommand("cat", on: words("index", identifier)), reading: WholeOutput())
            do throws(JSONError) {
                try index.read(output.bytes, where: isWanted)
            } catch {
                throw .unexpectedAnswer(error, to: "cat index")
            }
        }
        return index.packs
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
        let opened = files.compactMap { file -> OpenPack? in
            do throws(Errno) {
                return OpenPack(try openForReading(file))
            } catch {
                // Treated like a file of which nothing can be read.
                return nil
            }
        }
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

private final class OpenPack {
    private let file: OwnedDescriptor

    init(_ file: FileDescriptor) { self.file = OwnedDescriptor(file) }

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
