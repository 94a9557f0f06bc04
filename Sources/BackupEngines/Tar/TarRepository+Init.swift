import SystemCalls
import SystemPackage

extension TarRepository {
    package func initialize() async throws(BackupError) {
        try await work { _ in try makeRepository() }
    }

    private func makeRepository() throws(BackupError) {
        var isThere = false
        do throws(Errno) {
            isThere = try itemExists(path.pushing(TarNames.config))
        } catch {
            throw backupError(error, path: path)
        }
        if isThere {
            throw BackupError(.repositoryExists, "there is a repository already", path: path)
        }
        guard try isFree() else {
            throw BackupError(
                .targetNotEmpty, "the directory is not empty", advice: "name a new one",
                path: path)
        }
        do throws(Errno) {
            try makeDirectories(at: path, permissions: 0o700)
            let directory = OwnedDescriptor(try openDirectoryReference(path))
            try writeConfig(in: directory.descriptor)
        } catch {
            throw backupError(error, path: path)
        }
    }

    /// Whether the directory contains nothing, or only what a killed `init` left.
    private func isFree() throws(BackupError) -> Bool {
        if try isEmptyOrAbsent(path) { return true }
        do throws(Errno) {
            let directory = OwnedDescriptor(try openFile(path, flags: [.readOnly, .directory]))
            return try names(in: directory.descriptor)
                == [TarNames.unfinished(TarNames.config).bytes]
        } catch {
            throw backupError(error, path: path)
        }
    }

    private func writeConfig(in directory: FileDescriptor) throws(Errno) {
        let name = TarNames.unfinished(TarNames.config)
        let file = OwnedDescriptor(
            try openFile(
                in: directory, name, flags: [.writeOnly, .create, .truncate, .noFollow],
                permissions: 0o600))
        let written = TarConfig.bytes.withUnsafeBytes { bytes in
            Result { () throws(Errno) in try writeFile(file.descriptor, bytes) }
        }
        try written.get()
        try synchronize(file.descriptor)
        try renameItem(name, in: directory, to: TarNames.config, in: directory, .absent)
        try synchronizeDirectory(directory)
    }
}
