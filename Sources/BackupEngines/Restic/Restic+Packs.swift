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
