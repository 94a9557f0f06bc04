#if !canImport(Darwin)
import ResourceValuesDropIn

extension BGTaskScheduler {
    /// Why a request was not accepted.
    public struct Error: Swift.Error, CustomNSError, LocalizedError, Hashable {
        /// The kinds of errors, with Apple's numbers.
        public enum Code: Int, Sendable {
            /// No service manager can start the program: systemd is not running or has no manager
            /// for this user, `systemd-run` is missing or fails, the program's file was removed, or
            /// its path, an argument or the working directory has characters that systemd would not
            /// keep.
            case unavailable = 1
            /// One refresh task, or ten processing tasks, are pending already.
            case tooManyPendingTaskRequests = 2
            /// The identifier is not registered, or is empty or too long for the name of a unit.
            case notPermitted = 3
        }

        /// The domain of the error as an `NSError`.
        public static let errorDomain = "BGTaskSchedulerErrorDomain"
        /// See ``Code/unavailable``.
        public static var unavailable: Code { .unavailable }
        /// See ``Code/tooManyPendingTaskRequests``.
        public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
        /// See ``Code/notPermitted``.
        public static var notPermitted: Code { .notPermitted }

        /// The kind of the error.
        public let code: Code
        /// What is wrong, for people.
        public let errorDescription: String?

        init(_ code: Code, _ description: String) {
            self.code = code
            errorDescription = description
        }

        /// The number of the error's kind.
        public var errorCode: Int { code.rawValue }

        /// The description under the key for it.
        public var errorUserInfo: [String: Any] {
            [NSLocalizedDescriptionKey: errorDescription ?? ""]
        }
    }
}

/// Whether an error has a code, so that `catch BGTaskScheduler.Error.notPermitted` works.
public func ~= (code: BGTaskScheduler.Error.Code, error: any Swift.Error) -> Bool {
    (error as? BGTaskScheduler.Error)?.code == code
}
#endif
