/// Which snapshot is meant.
package enum SnapshotChoice: Sendable, Hashable {
    /// The newest one this program made on this machine.
    case latest
    /// The one whose identifier begins with these digits.
    case identifier(String)

    /// Reads `latest`, or hexadecimal digits; nil for anything else.
    package init?(_ text: String) {
        if text == "latest" {
            self = .latest
        } else if (4...64).contains(text.count), text.allSatisfy(\.isHexDigit) {
            self = .identifier(text.lowercased())
        } else {
            return nil
        }
    }
}

extension BackupEngine {
    /// All snapshots, the oldest first.
    ///
    /// - Throws: as ``snapshots(_:)`` does.
    package func snapshots() async throws(BackupError) -> [Snapshot] {
        try await snapshots(SnapshotFilter())
    }

    /// The one snapshot that is meant.
    ///
    /// A snapshot is found by the identifier it was made with, too, which people wrote down.
    ///
    /// - Throws: ``BackupError`` with the code `noSnapshot` when none or several fit.
    package func snapshot(_ choice: SnapshotChoice) async throws(BackupError) -> Snapshot {
        switch choice {
        case .latest:
            let own = try await snapshots(SnapshotFilter(hostName: hostName()))
            if let newest = own.last(where: { $0.sourceSet != nil && !$0.isHeld }) {
                return newest
            }
            throw BackupError(
                .noSnapshot, "resval-backup made no snapshot on this machine",
                advice: "name one that resval-backup snapshots shows")
        case .identifier(let prefix):
            let all = try await snapshots()
            var fitting = all.filter { $0.identifier.hasPrefix(prefix) }
            if fitting.isEmpty {
                fitting = all.filter { $0.originalIdentifier.hasPrefix(prefix) }
            }
            if fitting.count == 1, let only = fitting.first { return only }
            throw BackupError(
                .noSnapshot,
                fitting.isEmpty
                    ? "there is no snapshot \(prefix)"
                    : "\(fitting.count) snapshots begin with \(prefix)",
                advice: "see resval-backup snapshots")
        }
    }
}
