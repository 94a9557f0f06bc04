import SystemCalls
import SystemPackage

/// Why git gave no answer, in words.
struct GitFailure: Error, Hashable {
    let reason: String
}

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
    private let home: Home
    /// Where the user's own settings are; nil for `~/.config`.
    private let configuration: FilePath?
    /// The value for `core.excludesFile`, once it was needed.
    private let userIgnores = Monitor<[UInt8]?>(nil)

    /// The home in the environment, whose settings and ignore rules count.
    private enum Home: Sendable {
        case own(FilePath)
        case none
        /// Of another user: git is not run.
        case foreign

        init(_ path: FilePath?) {
            guard let path, path.isAbsolute, path != "/",
                // Without waiting for a server or a FUSE program.
                let status = try? path.statusAtHand()
            else {
                self = .none
                return
            }
            self = status.owner == effectiveUser() ? .own(path) : .foreign
        }
    }

    /// Creates a command from the `git` in a directory of `PATH`.
    ///
    /// - Parameters:
    ///   - searchPath: the directories, with colons between; relative ones are skipped.
    ///   - home: the home of the user who runs this process; nil for none.
    ///   - configuration: `$XDG_CONFIG_HOME`; nil if it is not set.
    ///   - timeLimit: how long git may take for one answer.
    ///   - budget: how long git may take for all answers together, so that many slow work trees do
    ///     not add up.
    init(
        searchPath: [UInt8]? = environmentVariable("PATH"),
        home: FilePath? = environmentVariable("HOME").map { FilePath(bytes: $0) },
        configuration: FilePath? = environmentVariable("XDG_CONFIG_HOME").map {
            FilePath(bytes: $0)
        },
        timeLimit: Duration = .seconds(60), budget: Duration = .seconds(180)
    ) {
        self.timeLimit = timeLimit
        self.budget = budget
        self.home = Home(home)
        self.configuration = configuration.flatMap { $0.isAbsolute ? $0 : nil }
        program = findProgram(Array("git".utf8), in: searchPath ?? [])
    }

    /// Asks about the work tree that begins in a directory.
    ///
    /// - Parameters:
    ///   - directory: the directory, open as a reference.
    ///   - repository: the path of the repository from there.
    ///   - body: called with each path of the answer, relative to the directory.
    func run(
        _ question: Question, in directory: OpenDirectory, _ repository: FilePath = ".git",
        _ body: (ArraySlice<UInt8>) -> Void
    ) throws(GitFailure) {
        if case .foreign = home {
            throw GitFailure(reason: "the home in HOME belongs to another user")
        }
        do throws(Errno) {
            let user = effectiveUser()
            guard try directory.status().owner == user,
                try directory.status(of: repository).owner == user
            else { throw .notPermitted }
        } catch .notPermitted {
            throw GitFailure(reason: "the work tree belongs to another user")
        } catch {
            throw GitFailure(reason: "the work tree cannot be read: \(error)")
        }
        guard try hasIndexOrNoCommit(directory, repository) else {
            throw GitFailure(
                reason: "git has no index of the work tree, as after a checkout that failed")
        }
        let ignores = question == .ignored ? try excludesFile() : []
        let setting = Array("core.excludesFile=".utf8) + ignores
        var paths = NulEndedPaths()
        let code = try call(
            Self.options(repository) + [Array("-c".utf8), setting]
                + question.arguments.map { Array($0.utf8) },
            in: directory.descriptor
        ) { paths.take($0, body) }
        guard code == 0, paths.isAtEnd else {
            throw GitFailure(reason: "git ls-files fails in the work tree with exit code \(code)")
        }
    }

    /// Whether an empty answer says that nothing is tracked: there is an index, or nothing was ever
    /// committed.
    private func hasIndexOrNoCommit(
        _ directory: OpenDirectory, _ repository: FilePath
    ) throws(GitFailure) -> Bool {
        func exists(_ path: FilePath) -> Bool { (try? directory.status(of: path)) != nil }
        if exists(repository.appending("index")) { return true }
        var output: [UInt8] = []
        let words = ["rev-parse", "--git-path", "index", "HEAD", "--"].map { Array($0.utf8) }
        let code = try call(Self.options(repository) + words, in: directory.descriptor) {
            output += $0
        }
        // The path of the index, what HEAD names if it names anything, and the end of revisions,
        // without which a file HEAD would be in the way.
        let end = Array("\n--\n".utf8)
        guard code == 0, output.suffix(end.count).elementsEqual(end) else { return true }
        output.removeLast(end.count)
        guard let newline = output.lastIndex(of: UInt8(ascii: "\n"))
        else { return true }
        let name = output[(newline + 1)...]
        guard name.count >= 40, name.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
            return true
        }
        return exists(FilePath(bytes: output[..<newline]))
    }

    /// Returns the file with the user's own ignore rules for all work trees, by the setting in the
    /// user's own files or by its default; empty for none.
    private func excludesFile() throws(GitFailure) -> [UInt8] {
        guard case .own(let home) = home else { return [] }
        if let known = userIgnores.withLock({ $0 }) { return known }
        let configuration = configuration ?? home.appending(".config")
        var file = configuration.appending("git/ignore").bytes
        let directory = SharedDescriptor(try opened(home))
        for settings in [configuration.appending("git/config"), home.appending(".gitconfig")]
        where isTrusted(settings) {
            var output: [UInt8] = []
            let words =
                ["config", "-z", "--file"].map { Array($0.utf8) } + [settings.bytes]
                + ["--type=path", "--get", "core.excludesFile"].map { Array($0.utf8) }
            let code = try call(words, in: directory.descriptor) { output += $0 }
            if code == 0, output.popLast() == 0 { file = output }
        }
        let trusted = isTrusted(FilePath(bytes: file)) ? file : []
        userIgnores.withLock { $0 = trusted }
        return trusted
    }

    private func opened(_ home: FilePath) throws(GitFailure) -> FileDescriptor {
        do throws(Errno) {
            return try openDirectoryReference(home)
        } catch {
            throw GitFailure(reason: "the home cannot be opened: \(error)")
        }
    }

    /// Whether only this process's user or root can have written a file, or put it at its path.
    private func isTrusted(_ file: FilePath) -> Bool {
        guard file.isAbsolute, let status = try? NamedItem(at: file).status else { return false }
        return status.kind == .regularFile && [0, effectiveUser()].contains(status.owner)
            && !status.isWritableByOthers
    }

    /// Runs git to its end within what is left of the time.
    ///
    /// - Returns: its exit code.
    private func call(
        _ arguments: [[UInt8]], in directory: FileDescriptor,
        _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(GitFailure) -> Int {
        guard let program else { throw GitFailure(reason: "git is not installed") }
        let (limit, start) = (min(timeLimit, budget - used.withLock { $0 }), monotonicTime())
        guard limit > .zero else { throw isExhausted }
        defer { used.withLock { $0 += monotonicTime() - start } }
        do throws(Errno) {
            return try runProgram(
                program, arguments, environment: environment, in: directory, within: limit,
                output: body)
        } catch .timedOut {
            throw limit < timeLimit
                ? isExhausted : GitFailure(reason: "git did not answer within \(limit)")
        } catch {
            throw GitFailure(reason: "git cannot be run: \(error)")
        }
    }

    private var isExhausted: GitFailure {
        GitFailure(reason: "git has taken \(budget) in all work trees together")
    }

    /// The settings of a work tree may come from another user; these would start a program.
    private static func options(_ repository: FilePath) -> [[UInt8]] {
        let options = [
            "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c",
            "core.attributesFile=/dev/null", "-c", "protocol.allow=never",
        ].map { Array($0.utf8) }
        // By itself git follows a file `.git`, too.
        if repository == ".git" { return options }
        return options + [Array("--git-dir=".utf8) + repository.bytes, Array("--work-tree=.".utf8)]
    }

    /// Settings outside the work tree could write files (`trace2.normalTarget`) or exclude them; none
    /// is read. What `~` means in a setting of the work tree, HOME says.
    private var environment: [[UInt8]] {
        var variables = [
            "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
            // No object is fetched, whatever a work tree's settings say of protocols.
            "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
            "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
        ].map { Array($0.utf8) }
        if let path = environmentVariable("PATH") { variables.append(Array("PATH=".utf8) + path) }
        if case .own(let home) = home { variables.append(Array("HOME=".utf8) + home.bytes) }
        return variables
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
