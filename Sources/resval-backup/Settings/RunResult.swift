/// How a run of the daily backup ended.
enum RunResult: String, Sendable, Hashable, CaseIterable {
    /// A run is in progress, or was killed.
    case running
    /// Everything was done.
    case ok
    /// A snapshot was made, but it lacks something or covers less than the one before.
    case incomplete
    /// Something failed.
    case failed
    /// There is no repository.
    case noRepository
    /// Another process uses the repository.
    case locked
    /// The password is wrong.
    case wrongPassword
    /// A signal ended the run.
    case interrupted

    /// Creates the result that an exit code stands for.
    init(exitCode: Int32) {
        switch exitCode {
        case 0: self = .ok
        case 3: self = .incomplete
        case 10: self = .noRepository
        case 11: self = .locked
        case 12: self = .wrongPassword
        case 130, 143: self = .interrupted
        default: self = .failed
        }
    }

    /// The exit code of `status` after such a run: 0 for `ok`, 3 for `incomplete`, otherwise 1.
    var statusCode: Int32 {
        switch self {
        case .ok: 0
        case .incomplete: 3
        default: 1
        }
    }
}
