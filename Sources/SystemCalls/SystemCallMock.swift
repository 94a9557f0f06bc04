#if MOCKING
import CLinux
import SystemPackage

/// Failures injected into the system calls of the calling thread, in debug builds only.
///
/// A test specifies which call fails, with which errno and how often; every other call reaches the
/// kernel. The failures of one thread never reach another thread.
package final class SystemCallMock {
    private var answers: [SystemCall: [Errno?]] = [:]
    private(set) package var calls: [SystemCall: Int] = [:]
    /// Called before each call, after it is counted; simulates what other programs do meanwhile.
    package var beforeCall: ((SystemCall) -> Void)?

    /// Creates a mock in which each call fails with its errnos one after the other, then works
    /// again. A nil among them lets one call reach the kernel.
    package init(_ answers: [SystemCall: [Errno?]]) {
        self.answers = answers.mapValues { $0.reversed() }
    }

    /// Runs `body` with this mock active on the calling thread.
    package func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        let key = Self.key
        let previous = pthread_getspecific(key)
        pthread_setspecific(key, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(key, previous) }
        return try body()
    }

    static var current: SystemCallMock? {
        guard let mock = pthread_getspecific(key) else { return nil }
        return Unmanaged<SystemCallMock>.fromOpaque(mock).takeUnretainedValue()
    }

    func answer(to call: SystemCall) -> Int? {
        calls[call, default: 0] += 1
        beforeCall?(call)
        guard let errno = answers[call]?.popLast() ?? nil else { return nil }
        return -Int(errno.rawValue)
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()
}
#endif
