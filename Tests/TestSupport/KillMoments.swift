import Glibc
import SystemCalls
import SystemPackage

/// Random moments after its start at which a test kills a command.
///
/// As many as `$RESVAL_TEST_KILLS` says, by default 5, each in an equal part of the time.
package func killMoments(upTo longest: Duration) -> [Duration] {
    let count = getenv("RESVAL_TEST_KILLS").flatMap { Int(String(cString: $0)) } ?? 5
    return (0..<max(count, 1)).map { index in
        longest * ((Double(index) + Double.random(in: 0..<1)) / Double(max(count, 1)))
    }
}

extension Command {
    /// The command, ended by SIGKILL with all it started when it still runs at a moment.
    package func killed(after moment: Duration) throws -> Command {
        guard let timeout = FilePath.tool("timeout") else {
            throw failure("needs timeout of coreutils")
        }
        let (seconds, attoseconds) = moment.components
        var killed = self
        killed.executable = timeout
        let time = Double(seconds) + Double(attoseconds) / 1e18
        killed.arguments =
            ["-s", "KILL", "\(max(time, 0.001))"].map(\.argumentBytes) + [executable.bytes]
            + arguments
        return killed
    }
}
