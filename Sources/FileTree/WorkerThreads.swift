import CLinux

/// Runs `body` on threads of its own and returns when all have ended.
///
/// The threads may give up sharing the process's working directory, which the caller's must not.
///
/// - Returns: how many threads could be started; each has run `body` with its number from 0.
func runOnThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> Int {
    var threads: [pthread_t] = []
    for number in 0..<count {
        let start = Unmanaged.passRetained(ThreadStart { body(number) })
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, start.toOpaque())
        guard result == 0 else {
            start.release()
            break
        }
        threads.append(thread)
    }
    for thread in threads { pthread_join(thread, nil) }
    return threads.count
}

private final class ThreadStart {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
}
