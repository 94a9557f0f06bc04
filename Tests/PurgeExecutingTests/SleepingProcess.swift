import Glibc
import SystemCalls
import SystemPackage
import TestSupport

/// Waits until a process has made a file.
///
/// - Throws: `ETIMEDOUT` when it has not after a minute.
func wait(for file: FilePath) throws {
    for _ in 0..<6000 {
        if file.exists { return }
        usleep(10_000)
    }
    throw Errno.timedOut
}

/// A process that runs until a test is done with it.
final class SleepingProcess {
    private let identifier: pid_t

    /// Starts a program, and waits until it runs.
    convenience init(_ executable: FilePath, _ arguments: any CommandArgument...) throws {
        try self.init(Command(executable, arguments: arguments))
    }

    init(_ command: Command) throws {
        let words =
            [Array("env".utf8)] + Self.directory(command) + [command.executable.bytes]
            + command.arguments
        var pointers = words.map { strdup($0.map { CChar(bitPattern: $0) } + [0]) } + [nil]
        defer { pointers.forEach { free($0) } }
        var identifier: pid_t = 0
        let error = posix_spawn(&identifier, "/usr/bin/env", nil, nil, &pointers, Glibc.environ)
        guard error == 0 else { throw Errno(rawValue: error) }
        self.identifier = identifier
        let executable = FilePath("/proc/\(identifier)/exe")
        let env = try FilePath("/usr/bin/env").status().identity
        let own = try FilePath("/proc/self/exe").status().identity
        while let now = try? executable.status().identity, now == env || now == own {
            usleep(1000)
        }
    }

    private static func directory(_ command: Command) -> [[UInt8]] {
        command.workingDirectory.map { [Array("-C".utf8), $0.bytes] } ?? []
    }

    deinit { end() }

    /// Kills the process and waits for its end.
    func end() {
        kill(identifier, SIGKILL)
        var status: CInt = 0
        waitpid(identifier, &status, 0)
    }
}
