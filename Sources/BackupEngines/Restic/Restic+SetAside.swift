import SystemCalls
import SystemPackage

extension Restic {
    /// Moves damaged snapshots aside. One that is still in the cache of this machine is stored
    /// again from there.
    package func setAside(
        _ identifiers: [String]
    ) async throws(BackupError) -> [RepairAction] {
        var actions: [RepairAction] = []
        let readable = try await list(SnapshotFilter()).snapshots
        for digits in identifiers {
            if let snapshot = readable.first(where: { $0.identifier.hasPrefix(digits) }) {
                try await retag(snapshot, adding: [StateTag.restored], removing: [])
                actions.append(
                    RepairAction(
                        "snapshot \(snapshot.shortIdentifier) was read from restic's cache and "
                            + "stored anew"))
            } else if let aside = try moveAside(digits) {
                actions.append(
                    RepairAction(
                        "contains snapshot \(digits.prefix(8)), which cannot be read, and was "
                            + "moved aside: the next prune removes what no other snapshot needs",
                        path: aside))
            }
        }
        return actions
    }

    /// Moves the file of a snapshot aside.
    ///
    /// - Returns: the new path; nil when the repository is not a directory, or the file does not
    ///   exist.
    private func moveAside(_ digits: String) throws(BackupError) -> FilePath? {
        guard let directory = repository.directory else { return nil }
        let snapshots = directory.appending("snapshots")
        do throws(Errno) {
            var found: [UInt8]?
            try forEachName(in: snapshots) { name in
                if name.starts(with: digits.utf8) { found = Array(name) }
                return found == nil
            }
            guard let found else { return nil }
            let aside = directory.pushing(
                FilePath(bytes: Array(".damaged-snapshot-".utf8) + found))
            let place = FileDescriptor.workingDirectory
            try renameItem(
                snapshots.pushing(FilePath(bytes: found)), in: place, to: aside, in: place,
                .replacing)
            return aside
        } catch {
            throw BackupError(
                .notWritable, "a damaged snapshot cannot be moved aside: \(error)",
                advice: "check owner, permissions and mount options", path: snapshots)
        }
    }
}
