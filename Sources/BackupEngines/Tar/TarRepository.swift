import SystemCalls
import SystemPackage

/// A directory of plain archives: one `ID.tar.zst` and one `ID.manifest.jsonl.zst` for each
/// snapshot.
///
/// A snapshot exists when its manifest does: the manifest is created last, and removed first. A
/// writer has a lock, which the kernel releases with its process. Readers need none: files that
/// they have open stay readable.
package struct TarRepository: BackupEngine {
    package let repository: RepositoryLocation
    package let warn: @Sendable (String) -> Void
    package let progress: @Sendable (BackupProgress) -> Void
    /// The directory.
    let path: FilePath

    /// Creates an engine.
    ///
    /// - Parameters:
    ///   - repository: a location that begins with `tar:`.
    ///   - warn: see ``BackupEngine/warn``.
    ///   - progress: see ``BackupEngine/progress``.
    /// - Throws: ``BackupError`` with the code `noRepository` for any other location.
    package init(
        _ repository: RepositoryLocation, warn: @escaping @Sendable (String) -> Void = { _ in },
        progress: @escaping @Sendable (BackupProgress) -> Void = { _ in }
    ) throws(BackupError) {
        guard repository.kind == .archives, let directory = repository.directory else {
            throw BackupError(.noRepository, "is not a directory of archives (tar:DIR)")
        }
        self.repository = repository
        self.warn = warn
        self.progress = progress
        path = directory
    }

    /// Always true: anyone who can read the archives can read the files.
    package var storesPlaintext: Bool { true }

    package func file(ofSnapshot identifier: String) -> FilePath? {
        FilePath(bytes: repository.absoluteBytes).pushing(TarNames.manifest(identifier))
    }

    /// Opens the directory of an existing repository.
    ///
    /// - Throws: ``BackupError``: `noRepository`, `damaged`, `unreachable`.
    func open() throws(BackupError) -> OwnedDescriptor {
        do {
            let opened = OwnedDescriptor(try openFile(path, flags: [.readOnly, .directory]))
            let config = path.pushing(TarNames.config)
            try TarConfig.check(contentsOfFile(config), path: config)
            return opened
        } catch let error as BackupError {
            throw error
        } catch {
            let error = FileError(error, of: path)
            guard error.code == .noSuchFile else {
                throw BackupError(.unreachable, "cannot be opened: \(error.message)", path: path)
            }
            throw BackupError(
                .noRepository, "there is no repository of archives",
                advice: "make one with resval-backup init", path: path)
        }
    }

    /// Opens the directory and takes its lock.
    ///
    /// - Throws: ``BackupError``: also `locked`, `notWritable`.
    func openAlone() throws(BackupError) -> LockedDirectory {
        let directory = try open()
        do throws(Errno) {
            let file = OwnedDescriptor(
                try openFile(
                    in: directory.descriptor, TarNames.lock,
                    flags: [.readWrite, .create, .noFollow], permissions: 0o600))
            guard try waitForLock(on: file.descriptor) else { throw .wouldBlock }
            return LockedDirectory(directory, file)
        } catch .wouldBlock {
            throw BackupError(
                .locked, "another resval-backup works on the repository",
                advice: "wait until it has ended", path: path)
        } catch {
            throw BackupError(
                .notWritable, "the repository's lock cannot be taken: \(error)",
                advice: "check its owner, permissions and mount options",
                path: path.pushing(TarNames.lock))
        }
    }
}

/// A repository's directory while this process has its lock.
final class LockedDirectory {
    private let directory: OwnedDescriptor
    private let lock: OwnedDescriptor

    init(_ directory: consuming OwnedDescriptor, _ lock: consuming OwnedDescriptor) {
        self.directory = directory
        self.lock = lock
    }

    /// The directory.
    var descriptor: FileDescriptor { directory.descriptor }
}

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
