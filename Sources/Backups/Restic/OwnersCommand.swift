import Subprocess
import SystemCalls
import SystemPackage

package struct CommandEnd: Sendable {
    /// The exit code, or 128 plus the number of the signal that ended it.
    package var code: Int32
    package var wasLate = false
}

/// Runs a program that the owner chose. It gets no input, no descriptor of this program is open in it,
/// and what it leaves behind is not waited for.
///
/// When its time is over, or it is to stop, it is terminated, and killed ten seconds later.
///
/// - Parameters:
///   - environment: all of its variables, as `NAME=VALUE`.
///   - isApart: whether it leads a session without a terminal, all of which is terminated; else it is in
///     this process's group, so that it can ask on the terminal.
///   - shouldStop: asked a few times a second.
/// - Throws: ``BackupError`` when it cannot be started.
package func runOwnersCommand(
    _ program: FilePath, _ arguments: [[UInt8]], environment: [[UInt8]], isApart: Bool,
    output: FileDescriptor = .standardError, errors: FileDescriptor = .standardError,
    within limit: Duration, shouldStop: @escaping @Sendable () -> Bool = { false }
) async throws(BackupError) -> CommandEnd {
    do {
        var platform = PlatformOptions()
        platform.createSession = isApart
        // Subprocess reads raw bytes up to a NUL, which it does not add itself.
        let configuration = Configuration(
            executable: .path(program), arguments: Arguments(arguments.map { $0 + [0] }),
            environment: .custom(environment.map { $0 + [0] }), platformOptions: platform)
        let nothing = try MemoryFile([])
        let isLate = Monitor(false)
        let watcher = Monitor(Task<Void, any Error>?.none)
        defer { watcher.withLock { $0?.cancel() } }
        let status = try await Subprocess.run(
            configuration, input: nothing.input,
            output: .fileDescriptor(output, closeAfterSpawningProcess: false),
            error: .fileDescriptor(errors, closeAfterSpawningProcess: false)
        ) { execution in
            let end = monotonicTime() + limit
            let task = Task {
                while !shouldStop(), monotonicTime() < end {
                    try await Task.sleep(for: .milliseconds(50))
                }
                if monotonicTime() >= end { isLate.withLock { $0 = true } }
                // Sending fails if what it is sent to has ended.
                try? execution.send(signal: .terminate, toProcessGroup: isApart)
                try await Task.sleep(for: .seconds(10))
                try? execution.send(signal: .kill, toProcessGroup: isApart)
            }
            watcher.withLock { $0 = task }
        }.terminationStatus
        let code: Int32 =
            switch status {
            case .exited(let code): code
            case .signaled(let signal): 128 + signal
            }
        return CommandEnd(code: code, wasLate: isLate.withLock { $0 })
    } catch {
        throw BackupError(.other, "\(NameEscaping.text(program.bytes)) cannot be run: \(error)")
    }
}
