#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemCalls
import SystemPackage

/// The program `resval-backup`, to be run for one item.
struct BackupCompanion {
    private let item: FilePath
    private let program: FilePath

    /// Finds the program.
    ///
    /// - Throws: `CocoaError.featureUnsupported` when it is not found.
    init(_ item: FilePath) throws {
        guard let program = findProgram("resval-backup") else {
            throw CocoaError(
                .featureUnsupported,
                userInfo: [
                    NSFilePathErrorKey: item.string,
                    NSLocalizedFailureReasonErrorKey: "there is no program resval-backup",
                    NSLocalizedRecoverySuggestionErrorKey:
                        "install it beside this program or in a directory of PATH",
                ])
        }
        self.item = item
        self.program = program
    }

    /// Runs a command of the program and waits for it.
    ///
    /// - Throws: `CocoaError` with its messages when it does not exit with 0.
    func runToItsEnd(_ command: String) throws {
        let messages = OwnedDescriptor(try makeMemoryFile("resval-backup-messages"))
        let process = try start(command, messages.descriptor)
        let code = try waitForProgram(process)
        guard code != 0 else { return }
        throw CocoaError(
            // Usage error, no repository or no password: the item cannot be moved anywhere.
            [10, 12, 64].contains(code) ? .featureUnsupported : .fileWriteUnknown,
            userInfo: [
                NSFilePathErrorKey: item.string,
                NSLocalizedFailureReasonErrorKey: try text(in: messages.descriptor),
            ])
    }

    /// Starts a command of the program; a detached thread waits for it.
    func begin(_ command: String) throws {
        let messages = OwnedDescriptor(try makeMemoryFile("resval-backup-messages"))
        let process = try start(command, messages.descriptor)
        Thread.detachNewThread {
            // The journal records the outcome.
            _ = try? waitForProgram(process)
        }
    }

    private func start(_ command: String, _ messages: FileDescriptor) throws -> Int {
        let words = [command, "--no-progress", "--"].map { Array($0.utf8) }
        return try startProgram(program, words + [item.bytes], messages: messages)
    }

    private func text(in messages: FileDescriptor) throws -> String {
        var bytes = [UInt8](repeating: 0, count: 16384)
        let count = try bytes.withUnsafeMutableBytes { try readFile(messages, at: 0, into: $0) }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
            .trimmingCharacters(in: .newlines)
    }
}
#endif
