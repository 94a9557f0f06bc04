import Eviction
import SystemCalls
import SystemPackage

extension Restic {
    /// Writes what can be read of damaged packs into new packs, and moves the damaged ones aside.
    /// Only damaged data is lost, and the next backup stores it again if the files still exist.
    /// restic itself has a command for this only since 0.16.
    ///
    /// At every moment, readable data is in a pack that the index contains. The next repair
    /// completes what a killed process left unfinished.
    package func repair(_ check: RepositoryCheck) async throws(BackupError) -> [RepairAction] {
        var actions: [RepairAction] = []
        guard check.isRepairable else { return actions }
        if DamagedPacks(check.problems).hasDamagedIndex {
            try await rebuildIndex(words("--read-all-packs"))
            actions.append(RepairAction("the index was made anew from all packs"))
        }
        guard let directory = repository.directory, !check.damagedFiles.isEmpty else {
            return actions
        }
        let key = try await packKey()
        let packs = try await packs(named: check.damagedFiles)
        var replacements: [Replacement] = []
        for (pack, blobs) in packs.sorted(by: { $0.key < $1.key }) {
            let salvage = try await salvage(pack, blobs, key)
            let old = packFile(pack)
            if salvage.damaged.isEmpty, old.flatMap(digest) == pack { continue }
            let new =
                salvage.intact.isEmpty
                ? nil : try write(salvage.pack(key), inPlaceOf: old, in: directory)
            replacements.append(Replacement(old: old, new: new, blobs: salvage.intact))
            actions.append(
                RepairAction(
                    "pack \(pack.prefix(8)): \(salvage.intact.count) of \(blobs.count) pieces can be "
                        + "read and were stored anew"))
        }
        // Needs exclusive access: if another process uses the repository, this fails and nothing is
        // moved.
        try await rebuildIndex()
        for old in replacements.compactMap(\.old) {
            let aside = try move(old, to: asideName(of: old, in: directory))
            actions.append(
                RepairAction(
                    "is the damaged pack, moved aside: remove it when nothing is missing",
                    path: aside))
        }
        try await rebuildIndex()
        try await checkReplacements(replacements, in: directory)
        return actions
    }

    /// Returns the packs that the index contains with these names, or first digits of names.
    func packs(named names: [String]) async throws(BackupError) -> [String: [PackBlob]] {
        try await packs { pack, _ in names.contains { pack.hasPrefix($0) } }
    }

    /// Returns the SHA-256 of a file, in hexadecimal; nil when it cannot be read.
    func digest(of file: FilePath) -> String? {
        do throws(Errno) {
            let opened = OwnedDescriptor(try openForReading(file))
            return try ArchiveInput(opened.descriptor, isSummed: true).finish().digest
        } catch {
            return nil
        }
    }

    private func rebuildIndex(_ options: [[UInt8]] = []) async throws(BackupError) {
        _ = try await run(ResticCommand("rebuild-index", options), reading: NoOutput())
    }

    /// Writes a pack under the name that its content determines.
    private func write(
        _ content: [UInt8], inPlaceOf old: FilePath?, in directory: FilePath
    ) throws(BackupError) -> FilePath {
        let name = SHA256.digest(of: content)
        let place = directory.appending("data").appending(String(name.prefix(2)))
        let (pack, unfinished) = (place.appending(name), place.appending("\(name)-tmp-resval"))
        do throws(Errno) {
            let permissions = try old.map { old throws(Errno) in try old.status().permissions }
            let file = OwnedDescriptor(
                try makeFile(
                    unfinished, in: .workingDirectory, permissions: permissions ?? 0o400))
            do throws(Errno) {
                let written = content.withUnsafeBytes { bytes in
                    Result { () throws(Errno) in try writeFile(file.descriptor, bytes) }
                }
                try written.get()
                try synchronize(file.descriptor)
            } catch {
                try removeFile(unfinished)
                throw error
            }
        } catch .noSpace {
            throw BackupError(
                .noSpace, "there is no space left to store anew what can be read of a pack",
                advice: "make room and run the command again", path: directory)
        } catch {
            throw BackupError(.notWritable, "a pack cannot be written: \(error)", path: place)
        }
        return try move(unfinished, to: pack)
    }

    private func move(_ file: FilePath, to name: FilePath) throws(BackupError) -> FilePath {
        do throws(Errno) {
            try renameItem(
                file, in: .workingDirectory, to: name, in: .workingDirectory, .replacing)
            let directory = OwnedDescriptor(
                try openDirectoryReference(name.removingLastComponent()))
            try synchronizeDirectory(directory.descriptor)
            return name
        } catch {
            throw BackupError(
                .notWritable, "a pack cannot be given another name: \(error)",
                advice: "run the command again", path: file)
        }
    }

    private func asideName(of pack: FilePath, in directory: FilePath) -> FilePath {
        directory.appending(".damaged-\(pack.lastComponent?.string ?? "")")
    }

    /// Verifies that the new packs are in the index, and moves the damaged ones back when they are
    /// not: a concurrent prune may have removed them as duplicates.
    private func checkReplacements(
        _ replacements: [Replacement], in directory: FilePath
    ) async throws(BackupError) {
        let needed = replacements.flatMap(\.blobs)
        let identifiers = Set(needed.map(\.identifier))
        let found = try await packs { _, blob in identifiers.contains(blob.identifier) }
        guard !identifiers.isSubset(of: found.values.joined().map(\.identifier)) else { return }
        for old in replacements.compactMap(\.old) {
            _ = try move(asideName(of: old, in: directory), to: old)
        }
        try await rebuildIndex()
        throw BackupError(
            .other, "another process changed the repository meanwhile; nothing was repaired",
            advice: "run the command again")
    }
}

/// A damaged pack and its replacement.
private struct Replacement {
    /// The damaged pack; nil when it is missing.
    let old: FilePath?
    /// The new pack; nil when nothing can be read.
    let new: FilePath?
    /// The blobs in the new pack.
    let blobs: [PackBlob]
}

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
