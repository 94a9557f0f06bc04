import SystemCalls

/// The snapshot that a command refers to.
package enum SnapshotChoice: Sendable, Hashable {
    /// The snapshot made last by this installation.
    case latest
    /// The snapshot whose identifier begins with these digits.
    case identifier(String)

    /// Parses `latest`, or 4 to 64 hexadecimal digits; nil for anything else.
    package init?(_ text: String) {
        if text == "latest" {
            self = .latest
        } else if (4...64).contains(text.count), text.isHexadecimal {
            self = .identifier(text.lowercased())
        } else {
            return nil
        }
    }
}

extension StringProtocol {
    /// Whether all characters are ASCII hexadecimal digits.
    var isHexadecimal: Bool {
        func isDigit(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                true
            default: false
            }
        }
        // An index has two identifiers for each file that is stored.
        return utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isDigit) }
            ?? utf8.allSatisfy(isDigit)
    }

    /// Whether it is a complete identifier as restic gives them to snapshots, trees and locks: a
    /// SHA-256 in hexadecimal.
    var isResticIdentifier: Bool { utf8.count == 64 && isHexadecimal }
}

extension Restic {
    /// Returns the snapshot that a choice refers to.
    ///
    /// A snapshot is also found by its original identifier, which people may have written down.
    ///
    /// - Throws: ``BackupError`` with the code `noSnapshot` when none or several match, `damaged`
    ///   when the one that matches cannot be read.
    package func snapshot(_ choice: SnapshotChoice) async throws(BackupError) -> Snapshot {
        switch choice {
        case .latest:
            // The one made last of each SET, and of these the one dated last.
            let made = try await ownSnapshots().sets.compactMap(\.snapshots.last)
            let now = FileTime.now.seconds
            let timely = made.filter { !$0.isFromFuture(at: now) }
            // When all are dated in the future, the clock of this machine is wrong.
            let newest = (timely.isEmpty ? made : timely).max { $0.time < $1.time }
            if let newest { return newest }
            throw BackupError(
                .noSnapshot, "resval-backup made no snapshot on this machine",
                advice: "list all snapshots: resval-backup snapshots")
        case .identifier(let prefix):
            let list = try await list(SnapshotFilter())
            let all = list.snapshots
            var fitting = all.filter { $0.identifier.hasPrefix(prefix) }
            if fitting.isEmpty {
                fitting = all.filter { $0.originalIdentifier.hasPrefix(prefix) }
            }
            if fitting.count == 1, let only = fitting.first { return only }
            if fitting.isEmpty,
                let unreadable = list.unreadable.first(where: {
                    prefix.hasPrefix($0.identifier) || $0.identifier.hasPrefix(prefix)
                })
            {
                throw BackupError(
                    .damaged, "snapshot \(prefix) cannot be read: \(unreadable.problem)",
                    advice: "check the repository: resval-backup verify")
            }
            throw BackupError(
                .noSnapshot,
                fitting.isEmpty
                    ? "there is no snapshot \(prefix)"
                    : "\(fitting.count) snapshots begin with \(prefix)",
                advice: "list the snapshots: resval-backup snapshots")
        }
    }
}

/// The conditions that wanted snapshots fulfil, all of them.
package struct SnapshotFilter: Sendable, Hashable {
    /// The machine they were made on; nil for any.
    package var hostName: String?
    /// The tags that they have, all of them.
    package var tags: [String]

    package init(hostName: String? = nil, tags: [String] = []) {
        self.hostName = hostName
        self.tags = tags
    }

    /// Whether a snapshot is wanted.
    package func accepts(_ snapshot: Snapshot) -> Bool {
        (hostName == nil || hostName == snapshot.hostName)
            && tags.allSatisfy(snapshot.allTags.contains)
    }
}
