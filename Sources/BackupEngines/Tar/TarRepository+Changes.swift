import SystemCalls
import SystemPackage

extension TarRepository {
    /// Removes what a killed process left. Does nothing when the repository is not writable.
    package func recover() async throws(BackupError) {
        do throws(BackupError) {
            try await work { _ in
                let directory = try openAlone()
                try removeUnfinished(in: directory.descriptor)
            }
        } catch  where error.code == .notWritable {
            // The next writer reports this; readers do not need a recovery.
        }
    }

    package func remove(_ snapshots: [Snapshot]) async throws(BackupError) {
        try await work { _ in
            let directory = try openAlone()
            for snapshot in snapshots {
                // The manifest first: without a manifest there is no snapshot.
                try removeFile(TarNames.manifest(snapshot.identifier), in: directory)
                try synchronize(directory)
                try removeFile(TarNames.archive(snapshot.identifier), in: directory)
            }
            try synchronize(directory)
        }
    }

    /// Removes archives without a manifest: a killed process left them while it removed a snapshot
    /// or before it completed one.
    package func prune() async throws(BackupError) {
        try await work { _ in
            let directory = try openAlone()
            try removeUnfinished(in: directory.descriptor)
            let names = try fileNames(in: directory.descriptor)
            let snapshots = Set(names.compactMap(TarNames.snapshot(ofManifest:)))
            for identifier in names.compactMap(TarNames.snapshot(ofArchive:))
            where !snapshots.contains(identifier) {
                try removeFile(TarNames.archive(identifier), in: directory)
            }
            try synchronize(directory)
        }
    }

    /// Rewrites the manifest with other tags; the archive stays.
    package func retag(
        _ snapshot: Snapshot, adding: [String], removing: [String]
    ) async throws(BackupError) {
        try await work { _ in
            let directory = try openAlone()
            let old = try openManifest(of: snapshot.identifier) { false }
            do {
                let kept = old.reader.head.snapshot.allTags.filter { !removing.contains($0) }
                let tags = kept + adding.filter { !kept.contains($0) }
                try rewrite(old.reader, tags, in: directory)
            } catch {
                throw backupError(error, path: path)
            }
        }
    }

    private func rewrite(
        _ old: ManifestReader, _ tags: [String], in directory: LockedDirectory
    ) throws {
        let before = old.head.snapshot
        let snapshot = Snapshot(
            identifier: before.identifier, time: before.time, hostName: before.hostName,
            userName: before.userName, allTags: tags, paths: before.sources)
        let name = TarNames.manifest(snapshot.identifier)
        let file = try UnfinishedFile(name, in: directory.descriptor)
        try ManifestWriter.copy(old, to: file.descriptor, snapshot)
        try SystemCalls.synchronize(file.descriptor)
        try file.publish(.replacing)
        try synchronizeDirectory(directory.descriptor)
    }

    private func removeFile(
        _ name: FilePath, in directory: LockedDirectory
    ) throws(BackupError) {
        do throws(Errno) {
            try removeItem(name, in: directory.descriptor, isDirectory: false)
        } catch .noSuchFileOrDirectory {
            // Another process has removed it.
        } catch {
            throw backupError(error, path: path.pushing(name))
        }
    }

    private func synchronize(_ directory: LockedDirectory) throws(BackupError) {
        do throws(Errno) {
            try synchronizeDirectory(directory.descriptor)
        } catch {
            throw backupError(error, path: path)
        }
    }
}
