import Glibc
import SystemCalls
import SystemPackage

/// How often a test kills a command, or has it fail: as often as `$RESVAL_TEST_KILLS` says, by default 5.
package let killCount = max(
    getenv("RESVAL_TEST_KILLS").flatMap { Int(String(cString: $0)) } ?? 5, 1)

/// ``killCount`` random moments after its start at which a test kills a command, each in an equal part of
/// the time.
package func killMoments(upTo longest: Duration) -> [Duration] {
    (0..<killCount).map { index in
        longest * ((Double(index) + Double.random(in: 0..<1)) / Double(killCount))
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
