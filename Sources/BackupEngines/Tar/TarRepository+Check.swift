import ResourceValues
import SystemCalls
import SystemPackage

extension TarRepository {
    /// Reads every manifest and checks the sizes of the archives or, if `readsData`, every byte of
    /// them.
    package func check(readsData: Bool) async throws(BackupError) -> RepositoryCheck {
        try await work { isCancelled in
            var check = RepositoryCheck()
            let directory = try open()
            let identifiers = try fileNames(in: directory.descriptor)
                .compactMap(TarNames.snapshot(ofManifest:)).sorted()
            // A file that is missing, or cannot be inspected, is reported when it is read.
            let sizes = identifiers.map {
                let name = readsData ? TarNames.archive($0) : TarNames.manifest($0)
                return (try? path.pushing(name).withoutFollowing.status().size) ?? 0
            }
            let counter = StepCounter(
                .snapshotsChecked, of: Int64(identifiers.count),
                bytes: sizes.reduce(0) { $0.addingSaturating($1) }, progress)
            for (identifier, size) in zip(identifiers, sizes) {
                defer { counter.add(files: 1, bytes: readsData ? 0 : size) }
                let problems = try problems(
                    with: identifier, in: directory.descriptor, readsData, counter, isCancelled)
                guard !problems.isEmpty else { continue }
                check.problems += problems.map { "snapshot \(identifier): \($0)" }
                if try isDamaged(identifier, in: directory.descriptor, isCancelled) {
                    check.damagedSnapshots.append(identifier)
                } else {
                    check.repair += steps(settingAside: identifier)
                }
            }
            check.repair += RepairStep.settingAside(check.damagedSnapshots)
            if !check.problems.isEmpty {
                check.repair.append(
                    RepairStep(
                        purpose: "make a new snapshot, which needs no other",
                        command: []))
            }
            return check
        }
    }

    /// Whether the manifest of a snapshot cannot be read to its end, so that only manual work with
    /// the archive remains.
    private func isDamaged(
        _ identifier: String, in directory: FileDescriptor,
        _ isCancelled: @escaping () -> Bool
    ) throws -> Bool {
        do throws(BackupError) {
            let manifest = try openManifest(identifier, in: directory, isCancelled)
            while try manifest?.nextItem() != nil { if isCancelled() { break } }
            return false
        } catch {
            guard error.code == .damaged else { throw error }
            return true
        }
    }

    /// Renames both files of each snapshot, to names that no command of this program reads.
    package func setAside(
        _ identifiers: [String]
    ) async throws(BackupError) -> [RepairAction] {
        try await work { _ in
            let directory = try openAlone()
            var actions: [RepairAction] = []
            for identifier in identifiers {
                // The archive first: prune removes one without a manifest.
                for name in [TarNames.archive(identifier), TarNames.manifest(identifier)] {
                    guard let aside = try moveAside(name, in: directory.descriptor) else {
                        continue
                    }
                    actions.append(
                        RepairAction(
                            "is of snapshot \(identifier), whose manifest is damaged, and was moved "
                                + "aside (tar may still read the archive)", path: aside))
                }
                try synchronizeDirectory(directory.descriptor)
            }
            return actions
        }
    }

    /// Moves a file aside.
    ///
    /// - Returns: the new path; nil when the file does not exist.
    private func moveAside(
        _ name: FilePath, in directory: FileDescriptor
    ) throws(BackupError) -> FilePath? {
        let aside = FilePath(bytes: name.bytes + Array(".damaged".utf8))
        do throws(Errno) {
            try renameItem(name, in: directory, to: aside, in: directory, .replacing)
            return path.pushing(aside)
        } catch .noSuchFileOrDirectory {
            return nil
        } catch {
            throw backupError(error, path: path.pushing(name))
        }
    }

    private func problems(
        with identifier: String, in directory: FileDescriptor, _ readsData: Bool,
        _ counter: StepCounter, _ isCancelled: @escaping () -> Bool
    ) throws -> [String] {
        do throws(BackupError) {
            // A snapshot that was removed meanwhile has no problems.
            guard let manifest = try openManifest(identifier, in: directory, isCancelled)
            else { return [] }
            let archive = try openArchive(identifier, in: directory)
            if readsData {
                let comparison = ArchiveComparison(counter: counter, isCancelled: isCancelled)
                do {
                    return try comparison.compare(archive.descriptor, manifest.reader)
                } catch {
                    throw backupError(error)
                }
            }
            while try manifest.nextItem() != nil { if isCancelled() { break } }
            let size = try archiveSize(archive.descriptor)
            return size == manifest.reader.end?.archiveSize
                ? [] : ["the archive does not have the size it had"]
        } catch {
            guard error.code == .damaged else { throw error }
            return [error.message]
        }
    }

    private func archiveSize(_ archive: FileDescriptor) throws(BackupError) -> Int64 {
        do throws(Errno) {
            return try archive.status().size
        } catch {
            throw backupError(error, path: path)
        }
    }

    /// Returns the steps that save what can be read, and then rename both files to names that no
    /// command of this program reads.
    private func steps(settingAside identifier: String) -> [RepairStep] {
        let restore = RepairStep(
            purpose:
                "save what can still be read of snapshot \(identifier) in a directory here; what "
                + "cannot be is named",
            command: words("restore", identifier, "--target", "restored-\(identifier)"), isOwn: true
        )
        return [restore]
            + [TarNames.manifest(identifier), TarNames.archive(identifier)].map { name in
                let file = path.pushing(name).bytes
                return RepairStep(
                    purpose: "move a file of snapshot \(identifier) aside",
                    command: words("mv", "--") + [file, file + Array(".damaged".utf8)])
            }
    }
}

/// Compares an archive with its manifest, entry by entry, in bounded memory.
struct ArchiveComparison {
    /// Counts the bytes of the archive that were read.
    let counter: StepCounter
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
        let reader = try ArchiveReader(
            .pax, from: archive, isSummed: true, didRead: { counter.add(bytes: Int64($0)) })
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
        var digest = item.newDigest(isCancelled: isCancelled)
        while let piece = try reader.nextPiece() {
            if isCancelled() { throw CancellationError() }
            try digest.update(piece.bytes, at: piece.offset)
        }
        return try digest.finish(size: item.size)
    }

    /// Returns a path as text that cannot control a terminal.
    private func shown(_ path: [UInt8]) -> String { Percent.text(of: path) }
}
