/// How a run of the daily backup ended.
package enum RunResult: String, Sendable, Hashable, CaseIterable {
    /// A run is under way, or was killed.
    case running
    /// Everything was done.
    case ok
    /// A snapshot was made, and it lacks something or holds less than the one before.
    case incomplete
    /// Something failed.
    case failed
    /// There is no repository.
    case noRepository
    /// Somebody else uses the repository.
    case locked
    /// The password is wrong.
    case wrongPassword
    /// A signal ended the run.
    case interrupted

    /// The result that an exit code stands for.
    package init(exitCode: Int32) {
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

    /// What `status` answers: 0 for a good last run, 3 for an incomplete one, 1 for none or a bad one.
    package var statusCode: Int32 {
        switch self {
        case .ok: 0
        case .incomplete: 3
        default: 1
        }
    }
}
