#if !canImport(Darwin)
import Foundation
import SystemCalls
import SystemPackage

extension FileManager {
    /// Whether a snapshot contains the item's content, and the item may have been evicted.
    ///
    /// - Returns: `false` also when the item does not exist or cannot be read.
    public func isUbiquitousItem(at url: URL) -> Bool {
        (try? url.resourceValues(forKeys: [.isUbiquitousItemKey]))?.isUbiquitousItem == true
    }

    /// Stores a file's content in a snapshot and frees the file's blocks.
    ///
    /// Runs `resval-backup evict`, from the program's own directory or from a directory of `PATH`, and
    /// waits until it ends. The repository is `$RESVAL_BACKUP_REPOSITORY`, and restic's environment
    /// variables give its password. Does nothing for a file that is already evicted.
    ///
    /// - Throws: `CocoaError`: `fileNoSuchFile`, `featureUnsupported` when there is no
    ///   `resval-backup` or no repository, `fileWriteUnknown` when the file was refused; the
    ///   error's failure reason says why.
    public func evictUbiquitousItem(at url: URL) throws {
        try url.operate { path in
            _ = try path.withoutFollowing.fileStatus()
            try BackupCompanion(path).runToItsEnd("evict")
        }
    }

    /// Starts to download an evicted file, and returns without waiting for it.
    ///
    /// Runs `resval-backup download`, found as in ``evictUbiquitousItem(at:)``. When the content is
    /// back, `ubiquitousItemDownloadingStatus` is `current`. If the download fails, it stays
    /// `notDownloaded`, and the command `resval-backup download` prints the reason. Does nothing for
    /// an item that is not evicted.
    ///
    /// - Throws: `CocoaError`: `fileNoSuchFile`, `featureUnsupported` when there is no
    ///   `resval-backup`.
    public func startDownloadingUbiquitousItem(at url: URL) throws {
        try url.operate { path in
            _ = try path.withoutFollowing.fileStatus()
            let values = try url.resourceValues(forKeys: [.ubiquitousItemDownloadingStatusKey])
            guard values.ubiquitousItemDownloadingStatus == .notDownloaded else { return }
            try BackupCompanion(path).begin("download")
        }
    }
}

/// The program `resval-backup`, to be run for one item.
struct BackupCompanion {
    private let item: FilePath
    private let program: FilePath

    /// Finds the program.
    ///
    /// - Throws: ``FileError``: `unsupportedFileKind` when it is not found.
    init(_ item: FilePath) throws(FileError) {
        guard let program = findProgram("resval-backup") else {
            throw FileError(
                code: .unsupportedFileKind, message: "there is no program resval-backup",
                advice: "install it beside this program or in a directory of PATH", path: item)
        }
        self.item = item
        self.program = program
    }

    /// Runs a command of the program and waits for it.
    ///
    /// - Throws: ``FileError`` with its messages when it does not exit with 0.
    func runToItsEnd(_ command: String) throws {
        let messages = OwnedDescriptor(try makeMemoryFile("resval-backup-messages"))
        let process = try start(command, messages.descriptor)
        let code = try waitForProgram(process)
        guard code != 0 else { return }
        throw FileError(
            // Usage error, no repository or no password: the item cannot be moved anywhere.
            code: [10, 12, 64].contains(code) ? .unsupportedFileKind : .other,
            message: try text(in: messages.descriptor), path: item)
    }

    /// Starts a command of the program; a detached thread waits for it.
    func begin(_ command: String) throws {
        let messages = OwnedDescriptor(try makeMemoryFile("resval-backup-messages"))
        let process = try start(command, messages.descriptor)
        Thread.detachNewThread {
            // The item shows the outcome.
            _ = try? waitForProgram(process)
        }
    }

    private func start(_ command: String, _ messages: FileDescriptor) throws -> Int {
        let words = [command, "--progress", "never", "--"].map { Array($0.utf8) }
        return try startProgram(program, words + [item.bytes], messages: messages)
    }

    private func text(in messages: FileDescriptor) throws -> String {
        String(decoding: try readFile(messages, at: 0, count: 16384), as: UTF8.self)
            .trimmingCharacters(in: .newlines)
    }
}
#endif
