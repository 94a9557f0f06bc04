import SystemCalls
import SystemPackage

extension TarRepository {
    /// Looks at every manifest, and at the archives' sizes; reading the data, at every byte.
    package func check(readsData: Bool) async throws(BackupError) -> RepositoryCheck {
        try await work { isCancelled in
            var check = RepositoryCheck()
            let directory = try open()
            let names = try fileNames(in: directory.descriptor)
            for identifier in names.compactMap(TarNames.snapshot(ofManifest:)).sorted() {
                let problems = try problems(
                    with: identifier, in: directory.descriptor, readsData, isCancelled)
                guard !problems.isEmpty else { continue }
                check.problems += problems.map { "snapshot \(identifier): \($0)" }
                check.repair.append(removal(of: identifier))
            }
            if !check.problems.isEmpty {
                check.repair.append(
                    RepairStep(
                        purpose: "make a new snapshot, which needs no other",
                        command: Array("resval-backup create SOURCE...".utf8)))
            }
            return check
        }
    }

    private func problems(
        with identifier: String, in directory: FileDescriptor, _ readsData: Bool,
        _ isCancelled: @escaping () -> Bool
    ) throws -> [String] {
        do throws(BackupError) {
            // One that was forgotten meanwhile has no problems.
            guard let manifest = try openManifest(identifier, in: directory) else { return [] }
            let archive = try openArchive(identifier, in: directory)
            if readsData {
                let comparison = ArchiveComparison(isCancelled: isCancelled)
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
        } catch where error.code == .damaged {
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

    private func removal(of identifier: String) -> RepairStep {
        let files = [TarNames.manifest(identifier), TarNames.archive(identifier)]
            .map { path.pushing($0).bytes }
        return RepairStep(
            purpose: "remove snapshot \(identifier), after restoring from it what it still has",
            command: files.reduce(Array("rm -f --".utf8)) {
                $0 + [UInt8(ascii: " ")] + shellQuoted($1)
            })
    }
}

/// A word in single quotes, as every shell reads it.
private func shellQuoted(_ word: [UInt8]) -> [UInt8] {
    let quote = UInt8(ascii: "'")
    return [quote] + word.flatMap { $0 == quote ? Array(#"'\''"#.utf8) : [$0] } + [quote]
}
