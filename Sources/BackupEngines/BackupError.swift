import SystemPackage

/// Why a backup engine could not do what it was asked for.
///
/// The message holds no path of the user's: it may hold bytes that a terminal obeys. Match on the
/// code.
package struct BackupError: Error, Sendable, Hashable {
    /// The kind of trouble. More may be added.
    package struct Code: Sendable, Hashable {
        /// The exit code of the command line tool, which is restic's own.
        package let exitCode: Int32
        private let name: String

        private init(_ name: String, exitCode: Int32 = 1) {
            self.name = name
            self.exitCode = exitCode
        }

        /// There is no program `restic` on `PATH`.
        package static let engineMissing = Code("engineMissing")
        /// There is no repository at the location.
        package static let noRepository = Code("noRepository", exitCode: 10)
        /// Another process holds a lock that keeps this one out.
        package static let locked = Code("locked", exitCode: 11)
        /// The password is not one of the repository's.
        package static let wrongPassword = Code("wrongPassword", exitCode: 12)
        /// No password was given, or it could not be read.
        package static let noPassword = Code("noPassword")
        /// There is a repository at the location already.
        package static let repositoryExists = Code("repositoryExists")
        /// The repository cannot be reached: a network error, or permissions.
        package static let unreachable = Code("unreachable")
        /// The repository cannot be written to: permissions, or a read-only filesystem.
        package static let notWritable = Code("notWritable")
        /// There is no space left, in the repository or at a restore's target.
        package static let noSpace = Code("noSpace")
        /// The repository's own files make no sense.
        package static let damaged = Code("damaged")
        /// No snapshot fits what was asked for, or several do.
        package static let noSnapshot = Code("noSnapshot")
        /// The snapshot has no record of how it was made, or one that makes no sense.
        package static let noRecord = Code("noRecord")
        /// Nothing in the snapshot fits what was asked for.
        package static let noMatch = Code("noMatch")
        /// A restore's target is not an empty directory.
        package static let targetNotEmpty = Code("targetNotEmpty")
        /// The engine answered something this program does not understand.
        package static let unexpectedAnswer = Code("unexpectedAnswer")
        /// The work was stopped by a signal.
        package static let interrupted = Code("interrupted", exitCode: 130)
        /// A snapshot holds much less than the one before, and nobody has said that this is right.
        package static let coverageShrank = Code("coverageShrank", exitCode: 3)
        /// Several sets of SOURCEs fit, and one has to be named.
        package static let ambiguousSources = Code("ambiguousSources", exitCode: 64)
        /// Any other failure; the message tells the engine's own words.
        package static let other = Code("other")

        /// Whether another snapshot of the same repository may well be readable: everything but what
        /// concerns the repository as a whole, or is no trouble of its own.
        var mayConcernOneSnapshot: Bool {
            let codes: [Code] = [
                .engineMissing, .noRepository, .locked, .wrongPassword, .noPassword, .unreachable,
                .interrupted,
            ]
            return !codes.contains(self)
        }
    }

    /// The kind of trouble, to match on.
    package var code: Code
    /// What is wrong, in words.
    package var message: String
    /// How to go on; nil where there is nothing useful to say.
    package var advice: String?
    /// The file or directory concerned; nil where there is none.
    package var path: FilePath?

    package init(_ code: Code, _ message: String, advice: String? = nil, path: FilePath? = nil) {
        self.code = code
        self.message = message
        self.advice = advice
        self.path = path
    }
}

extension BackupError: CustomStringConvertible {
    /// The message and the advice, without the path.
    package var description: String {
        guard let advice else { return message }
        return "\(message) (\(advice))"
    }
}
