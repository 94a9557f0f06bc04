import SystemCalls
import SystemPackage
import TextFormats

/// A reason why `forget` keeps snapshots that the rules give up: it is the newest one that has a part
/// which its owner excluded since, or it was made before the clock passed over 30 days.
package struct Hold: Sendable, Hashable {
    /// How long snapshots are held, and how far apart two backups are when the clock may be wrong, in
    /// seconds.
    static let time: Int64 = 30 * 86400

    /// The first 16 digits of the original identifier of the snapshot that has the part, or of the last
    /// one before the clock passed over 30 days.
    package let snapshot: String
    /// When the part was excluded, or the first snapshot made after the clock passed over 30 days, in
    /// seconds since 1970; begins anew when the part is included again and was not stored yet.
    package let since: Int64
    /// The absolute path's bytes; nil for a clock that may be wrong, which holds all earlier snapshots.
    package let part: [UInt8]?

    /// Creates a hold; nil if the digits cannot name a snapshot.
    init?(snapshot: String, since: Int64, part: [UInt8]?) {
        guard snapshot.utf8.count == 16, snapshot.isHexadecimal,
            part == nil || part?.first == UInt8(ascii: "/")
        else { return nil }
        (self.snapshot, self.since, self.part) = (snapshot, since, part)
    }

    /// Creates a hold of a snapshot.
    init?(of snapshot: Snapshot, since: Int64, part: [UInt8]?) {
        self.init(
            snapshot: String(snapshot.originalIdentifier.prefix(16)), since: since, part: part)
    }

    /// Whether a snapshot is held.
    func holds(_ other: Snapshot) -> Bool {
        guard part != nil else { return other.time.seconds < since }
        return other.originalIdentifier.hasPrefix(snapshot) || other.identifier.hasPrefix(snapshot)
    }

    /// Why a snapshot is held, in words.
    var reason: String {
        guard let part else { return "made before the clock passed over 30 days" }
        return "has what was excluded since: \(NameEscaping.text(part))"
    }

    /// The day from which it holds no longer, unless its days begin anew.
    package var end: FileTime {
        FileTime(seconds: since.addingSaturating(Self.time), nanoseconds: 0)
    }
}

/// Collects the holds of a record.
private struct HoldReader: RecordHandler {
    private(set) var holds: [Hold] = []

    mutating func receive(_ line: RecordLine) {
        if case .hold(let hold) = line { holds.append(hold) }
    }
}

extension Restic {
    /// Returns the holds that a snapshot's record has; none once it was accepted.
    ///
    /// - Throws: ``BackupError`` when the repository as a whole cannot be read. While the newest record
    ///   cannot be read, ``pending(in:)`` keeps everything.
    package func holds(of snapshot: Snapshot) async throws(BackupError) -> [Hold] {
        guard snapshot.hasRecord, !snapshot.isAccepted else { return [] }
        do throws(BackupError) {
            return try await readRecord(of: snapshot, with: HoldReader()).holds
        } catch  where error.code.mayConcernOneSnapshot {
            return []
        }
    }
}
