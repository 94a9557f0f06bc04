import Subprocess
import SystemCalls
import SystemPackage

package struct CommandEnd: Sendable {
    /// The exit code, or 128 plus the number of the signal that ended it.
    package var code: Int32
    package var wasLate = false
}

/// Runs a command of the owner with `/bin/sh`, as the leader of a session without a terminal. It gets no
/// input, its output goes to standard error, and no descriptor of this program is open in it.
///
/// When its time is over, or it is to stop, its session is terminated, and killed ten seconds later.
///
/// - Parameters:
///   - environment: all of its variables, as `NAME=VALUE`.
///   - shouldStop: asked a few times a second.
/// - Throws: ``BackupError`` when the shell cannot be started.
package func runCommand(
    _ command: String, environment: [[UInt8]], within limit: Duration,
    shouldStop: @escaping @Sendable () -> Bool
) async throws(BackupError) -> CommandEnd {
    do {
        var platform = PlatformOptions()
        platform.createSession = true
        let configuration = Configuration(
            executable: .path("/bin/sh"),
            arguments: Arguments(["-c", command].map { Array($0.utf8) + [0] }),
            environment: .custom(environment.map { $0 + [0] }), platformOptions: platform)
        let nothing = OwnedDescriptor(try openForReading("/dev/null"))
        let isLate = Monitor(false)
        let watcher = Monitor(Task<Void, any Error>?.none)
        defer { watcher.withLock { $0?.cancel() } }
        let status = try await Subprocess.run(
            configuration,
            input: .fileDescriptor(nothing.descriptor, closeAfterSpawningProcess: false),
            output: .fileDescriptor(.standardError, closeAfterSpawningProcess: false),
            error: .fileDescriptor(.standardError, closeAfterSpawningProcess: false)
        ) { execution in
            let end = monotonicTime() + limit
            let task = Task {
                while !shouldStop(), monotonicTime() < end {
                    try await Task.sleep(for: .milliseconds(50))
                }
                if monotonicTime() >= end { isLate.withLock { $0 = true } }
                // Sending fails if the session has ended.
                try? execution.send(signal: .terminate, toProcessGroup: true)
                try await Task.sleep(for: .seconds(10))
                try? execution.send(signal: .kill, toProcessGroup: true)
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
        throw BackupError(.other, "/bin/sh cannot be run: \(error)")
    }
}
