import ResourceValues
import SystemPackage

/// Compares an archive with its manifest, entry by entry, in bounded memory.
struct ArchiveComparison {
    /// Called between entries and pieces; returns true to stop.
    let isCancelled: () -> Bool
    private static let problemLimit = 100

    /// Compares both.
    ///
    /// - Returns: the problems found, one line each; empty when there are none.
    /// - Throws: `CancellationError`.
    func compare(_ archive: FileDescriptor, _ manifest: ManifestReader) throws -> [String] {
        var problems: [String] = []
        do {
            try compare(archive, manifest, &problems)
        } catch let failure as ArchiveFailure {
            if isCancelled() { throw CancellationError() }
            problems.append(failure.message)
        }
        return problems
    }

    private func compare(
        _ archive: FileDescriptor, _ manifest: ManifestReader, _ problems: inout [String]
    ) throws {
        let reader = try ArchiveReader(.pax, from: archive, isSummed: true)
        while let item = try manifest.nextItem() {
            if isCancelled() { throw CancellationError() }
            guard let entry = try reader.next() else {
                return problems.append("the archive ends before \(shown(item.path))")
            }
            guard entry.path == item.archivePath else {
                return problems.append("the archive is missing \(shown(item.path))")
            }
            if try !agree(entry, item) || digest(reader, item) != item.contentDigest {
                problems.append("\(shown(item.path)) is not as it was stored")
            }
            if problems.count >= Self.problemLimit { return }
        }
        if try reader.next() != nil { problems.append("the archive contains more than it should") }
        let (size, digest) = try reader.finish()
        if size != manifest.end?.archiveSize || digest != manifest.end?.archiveDigest {
            problems.append("the archive is not the one that was written")
        }
    }

    private func agree(_ entry: ArchiveMetadata, _ item: ManifestItem) -> Bool {
        guard entry.hardLink == item.hardLink.map({ archived($0) }) else { return false }
        if item.hardLink != nil { return true }
        return entry.kind == item.kind && entry.size == item.size
            && entry.linkTarget == item.linkTarget ?? []
            && (item.device == nil || entry.device == item.device)
            && item.check(entry.attributes) != .different
    }

    private func digest(_ reader: ArchiveReader, _ item: ManifestItem) throws -> String? {
        guard item.contentDigest != nil else { return nil }
        var digest = ContentDigest(isCancelled: isCancelled)
        while let piece = try reader.nextPiece() {
            if isCancelled() { throw CancellationError() }
            try digest.update(piece.bytes, at: piece.offset)
        }
        return try digest.finish(size: item.size)
    }

    /// Returns a path as text that cannot control a terminal.
    private func shown(_ path: [UInt8]) -> String { Percent.text(of: path) }
}

extension ManifestItem {
    /// The SHA-256 of the content in the item's own entry; nil when there is none.
    var contentDigest: String? { kind == .regularFile && hardLink == nil ? digest : nil }
}
