import SystemCalls
import SystemPackage

/// A reason why `forget` keeps a snapshot that the rules give up: it is the newest one that has a part
/// which its owner excluded since.
package struct Hold: Sendable, Hashable {
    /// How long a snapshot is held after the exclusion, in seconds.
    static let time: Int64 = 30 * 86400

    /// The first 16 digits of the original identifier of the snapshot that has the part.
    package let snapshot: String
    /// When the part was excluded, in seconds since 1970; begins anew when the part is included again
    /// and was not stored yet.
    package let since: Int64
    /// The absolute path's bytes.
    package let part: [UInt8]

    /// Creates a hold; nil if the digits cannot name a snapshot.
    init?(snapshot: String, since: Int64, part: [UInt8]) {
        guard snapshot.utf8.count == 16, snapshot.isHexadecimal, part.first == UInt8(ascii: "/")
        else { return nil }
        (self.snapshot, self.since, self.part) = (snapshot, since, part)
    }

    /// Whether this is the snapshot that is held.
    func holds(_ other: Snapshot) -> Bool {
        other.originalIdentifier.hasPrefix(snapshot) || other.identifier.hasPrefix(snapshot)
    }

    /// The day from which it is held no longer, unless the part is excluded anew.
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
