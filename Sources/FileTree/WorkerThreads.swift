import CLinux
import SystemCalls

/// Runs `body` on threads of its own and returns when all have ended.
///
/// The threads may give up sharing the process's working directory, which the caller's must not.
///
/// - Returns: how many threads could be started; each has run `body` with its number from 0.
func runOnThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> Int {
    var threads: [pthread_t] = []
    for number in 0..<count {
        guard let thread = startThread({ body(number) }) else { break }
        threads.append(thread)
    }
    for thread in threads { pthread_join(thread, nil) }
    return threads.count
}
