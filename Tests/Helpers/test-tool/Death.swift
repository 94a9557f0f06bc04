import Glibc
import SystemCalls

/// Runs `body`, and kills this process, as SIGKILL from outside would, right before its call of a
/// number among those that count.
///
/// - Parameter number: counted from 1; 0 for never.
func dying<Result>(
    before number: Int, _ counts: @escaping (SystemCall) -> Bool, _ body: () throws -> Result
) throws -> Result {
    guard number > 0 else { return try body() }
    let mock = SystemCallMock([:])
    var count = 0
    mock.beforeCall = { call in
        guard counts(call) else { return }
        count += 1
        if count == number { kill(getpid(), SIGKILL) }
    }
    return try mock.run { try body() }
}
