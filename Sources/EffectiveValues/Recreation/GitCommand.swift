import SystemCalls
import SystemPackage

/// Why git gave no answer, in words.
struct GitFailure: Error, Hashable {
    let reason: String
}

/// Runs git to ask about work trees.
struct GitCommand: Sendable {
    enum Question: Sendable {
        case tracked
        /// The paths that are ignored, not below ignored directories; those of directories end with
        /// a slash.
        case ignored

        fileprivate var arguments: [String] {
            switch self {
            case .tracked: ["ls-files", "-z", "--"]
            case .ignored:
                ["ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory", "--"]
            }
        }
    }

    private let program: FilePath?
    private let timeLimit: Duration
    private let budget: Duration
    /// How long git has run so far, in all work trees.
    private let used = Monitor<Duration>(.zero)

    /// Creates a command from the `git` in a directory of `PATH`.
    ///
    /// - Parameters:
    ///   - searchPath: the directories, with colons between; relative ones are skipped.
    ///   - timeLimit: how long git may take for one answer.
    ///   - budget: how long git may take for all answers together, so that many slow work trees do
    ///     not add up.
    init(
        searchPath: [UInt8]? = environmentVariable("PATH"), timeLimit: Duration = .seconds(60),
        budget: Duration = .seconds(180)
    ) {
        self.timeLimit = timeLimit
        self.budget = budget
        program = (searchPath ?? []).split(separator: UInt8(ascii: ":"))
            .map { FilePath(bytes: $0) }.filter(\.isAbsolute)
            .map { $0.appending("git") }
            .first { (try? $0.isAccessible(for: .execute)) ?? false }
    }

    /// Asks about the work tree that begins in a directory.
    ///
    /// - Parameters:
    ///   - directory: the directory, open as a reference.
    ///   - body: called with each path of the answer, relative to the directory.
    func run(
        _ question: Question, in directory: OpenDirectory, _ body: (ArraySlice<UInt8>) -> Void
    ) throws(GitFailure) {
        guard let program else { throw GitFailure(reason: "git is not installed") }
        do throws(Errno) {
            let user = effectiveUser()
            guard try directory.status().owner == user,
                try directory.status(of: ".git").owner == user
            else { throw .notPermitted }
        } catch .notPermitted {
            throw GitFailure(reason: "the work tree belongs to another user")
        } catch {
            throw GitFailure(reason: "the work tree cannot be read: \(error)")
        }
        let (limit, start) = (min(timeLimit, budget - used.withLock { $0 }), monotonicTime())
        guard limit > .zero else { throw isExhausted }
        defer { used.withLock { $0 += monotonicTime() - start } }
        var paths = NulEndedPaths()
        let code: Int
        do throws(Errno) {
            code = try runProgram(
                program, (Self.options + question.arguments).map { Array($0.utf8) },
                environment: Self.environment, in: directory.descriptor, within: limit
            ) { paths.take($0, body) }
        } catch .timedOut {
            throw limit < timeLimit
                ? isExhausted : GitFailure(reason: "git did not answer within \(limit)")
        } catch {
            throw GitFailure(reason: "git cannot be run: \(error)")
        }
        guard code == 0, paths.isAtEnd else {
            throw GitFailure(reason: "git ls-files fails in the work tree with exit code \(code)")
        }
    }

    private var isExhausted: GitFailure {
        GitFailure(reason: "git has taken \(budget) in all work trees together")
    }

    /// The settings of a work tree may come from somebody else; these would start a program.
    private static let options = [
        "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c",
        "protocol.allow=never",
    ]

    private static var environment: [[UInt8]] {
        let inherited = ["HOME", "PATH", "XDG_CONFIG_HOME"].compactMap { name in
            environmentVariable(name).map { Array("\(name)=".utf8) + $0 }
        }
        // No object is fetched, whatever a work tree's settings say of protocols.
        let own = [
            "GIT_ALLOW_PROTOCOL=none", "GIT_CONFIG_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1",
            "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
        ]
        return inherited + own.map { Array($0.utf8) }
    }
}

/// Splits output that comes in parts into paths that end with a NUL.
private struct NulEndedPaths {
    private var rest: [UInt8] = []

    /// Whether the last path has ended.
    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ part: UnsafeRawBufferPointer, _ body: (ArraySlice<UInt8>) -> Void) {
        rest += part
        var start = 0
        while let end = rest[start...].firstIndex(of: 0) {
            body(rest[start..<end])
            start = end + 1
        }
        rest.removeFirst(start)
    }
}
