import SystemCalls
import SystemPackage

extension TarRepository {
    /// Returns the snapshots that match. One whose manifest is damaged is reported, and the others
    /// are listed.
    package func list(_ filter: SnapshotFilter) async throws(BackupError) -> SnapshotList {
        try await work { isCancelled in
            let directory = try open()
            var snapshots: [Snapshot] = []
            var unreadable: [UnreadableSnapshot] = []
            for identifier in try fileNames(in: directory.descriptor)
                .compactMap(TarNames.snapshot(ofManifest:))
            {
                if isCancelled() { throw CancellationError() }
                switch head(of: identifier, in: directory.descriptor, isCancelled) {
                case .success(let snapshot?): snapshots.append(snapshot)
                // Removed meanwhile.
                case .success(nil): break
                case .failure(let error):
                    if isCancelled() { throw CancellationError() }
                    unreadable.append(
                        UnreadableSnapshot(identifier: identifier, problem: error.message))
                }
            }
            let list = SnapshotList(snapshots.filter(filter.accepts), unreadable: unreadable)
            for snapshot in list.unreadable { warn(snapshot.sentence) }
            return list
        }
    }

    /// Returns the snapshot in the first line of a manifest; nil when there is no manifest.
    private func head(
        of identifier: String, in directory: FileDescriptor,
        _ isCancelled: @escaping () -> Bool
    ) -> Result<Snapshot?, BackupError> {
        Result { () throws(BackupError) in
            try openManifest(identifier, in: directory, isCancelled)?.reader.head.snapshot
        }
    }

    package func readEntries<Handler: SnapshotEntryHandler>(
        of identifier: String, below path: [UInt8]?, with handler: Handler
    ) async throws(BackupError) -> Handler {
        try await work { isCancelled in
            var handler = handler
            let manifest = try openManifest(of: identifier, isCancelled)
            while let item = try manifest.nextItem() {
                if isCancelled() { throw CancellationError() }
                if let path, !isHeld(item.path, by: path) { continue }
                try handler.receive(
                    SnapshotEntry(
                        path: item.path, kind: item.kind, size: item.size,
                        modified: item.modified, permissions: item.permissions & 0o777))
            }
            return handler
        }
    }

    package func readRecordBytes<Consumer: OutputConsumer>(
        of snapshot: Snapshot, with consumer: Consumer
    ) async throws(BackupError) -> Consumer {
        try await work { isCancelled in
            var consumer = consumer
            var failure: BackupError?
            let manifest = try openManifest(of: snapshot.identifier, isCancelled)
            let hasRecord = try manifest.readRecord { bytes in
                guard failure == nil else { return }
                let outcome = bytes.withUnsafeBytes { bytes in
                    Result { () throws(BackupError) in try consumer.receive(bytes) }
                }
                if case .failure(let error) = outcome { failure = error }
            }
            if let failure { throw failure }
            guard hasRecord else { throw BackupError.noRecord }
            try consumer.finish()
            return consumer
        }
    }

    /// Opens the manifest of a snapshot that was listed.
    ///
    /// - Parameter identifier: the whole identifier, or its first digits.
    /// - Throws: ``BackupError``: `noSnapshot` when it does not exist, `damaged`.
    func openManifest(
        of identifier: String, _ isCancelled: @escaping () -> Bool
    ) throws(BackupError) -> OpenManifest {
        let directory = try open()
        let found = try fileNames(in: directory.descriptor)
            .compactMap(TarNames.snapshot(ofManifest:)).first { $0.hasPrefix(identifier) }
        guard let found,
            let manifest = try openManifest(found, in: directory.descriptor, isCancelled)
        else {
            throw BackupError(
                .noSnapshot, "there is no snapshot \(identifier) any more",
                advice: "list the snapshots: resval-backup snapshots")
        }
        return manifest
    }

    /// Opens a snapshot's manifest; nil when there is none.
    ///
    /// - Throws: ``BackupError``: `damaged`, `unreachable`.
    func openManifest(
        _ identifier: String, in directory: FileDescriptor, _ isCancelled: @escaping () -> Bool
    ) throws(BackupError) -> OpenManifest? {
        let name = TarNames.manifest(identifier)
        guard let file = try openForReading(name, directory) else { return nil }
        return try OpenManifest(file, of: identifier, path: path.pushing(name), isCancelled)
    }

    /// Opens a snapshot's archive.
    ///
    /// - Throws: ``BackupError``: `damaged` when there is none.
    func openArchive(
        _ identifier: String, in directory: FileDescriptor
    ) throws(BackupError) -> OwnedDescriptor {
        let name = TarNames.archive(identifier)
        guard let file = try openForReading(name, directory) else {
            throw BackupError(
                .damaged, "the archive of the snapshot is missing", path: path.pushing(name))
        }
        return file
    }

    /// The names of all files of the repository.
    func fileNames(in directory: FileDescriptor) throws(BackupError) -> [[UInt8]] {
        do throws(Errno) {
            return try names(in: directory)
        } catch {
            throw BackupError(.unreachable, "cannot be read: \(error)", path: path)
        }
    }

    private func openForReading(
        _ name: FilePath, _ directory: FileDescriptor
    ) throws(BackupError) -> OwnedDescriptor? {
        do throws(Errno) {
            return OwnedDescriptor(try SystemCalls.openForReading(name, in: directory))
        } catch .noSuchFileOrDirectory {
            return nil
        } catch {
            throw BackupError(
                .unreachable, "cannot be opened: \(error)", path: path.pushing(name))
        }
    }
}

/// A manifest that is open for reading.
final class OpenManifest {
    /// The reader of its lines.
    let reader: ManifestReader
    private let path: FilePath
    private let isCancelled: () -> Bool
    private let file: OwnedDescriptor

    /// Opens a manifest.
    ///
    /// - Parameter identifier: the snapshot's identifier, from the file's name. The one in the
    ///   manifest is only compared with it.
    /// - Throws: ``BackupError`` with the code `damaged`, also for the manifest of another
    ///   snapshot.
    init(
        _ file: consuming OwnedDescriptor, of identifier: String, path: FilePath,
        _ isCancelled: @escaping () -> Bool
    ) throws(BackupError) {
        self.path = path
        self.isCancelled = isCancelled
        do throws(ArchiveFailure) {
            reader = try ManifestReader(from: file.descriptor, isCancelled: isCancelled)
            guard reader.head.snapshot.identifier == identifier else {
                throw ArchiveFailure("describes another snapshot than its name does")
            }
        } catch {
            throw isCancelled() ? .interrupted : damagedManifest(error, path)
        }
        self.file = file
    }

    /// Returns the next item; nil after the last.
    ///
    /// - Throws: ``BackupError`` with the code `damaged`.
    func nextItem() throws(BackupError) -> ManifestItem? {
        do throws(ArchiveFailure) {
            return try reader.nextItem()
        } catch {
            throw isCancelled() ? .interrupted : damagedManifest(error, path)
        }
    }

    /// Reads the record, as ``ManifestReader/readRecord(_:)``.
    func readRecord(_ body: ([UInt8]) -> Void) throws(BackupError) -> Bool {
        do throws(ArchiveFailure) {
            return try reader.readRecord { bytes throws(ArchiveFailure) in body(bytes) }
        } catch {
            throw isCancelled() ? .interrupted : damagedManifest(error, path)
        }
    }
}

private func damagedManifest(_ failure: ArchiveFailure, _ path: FilePath) -> BackupError {
    BackupError(
        .damaged, "the manifest \(failure.message)",
        advice: "check the repository: resval-backup verify", path: path)
}
