import Glibc
import SystemCalls
import SystemPackage
import Testing

/// A program with its arguments, and the environment it runs in.
///
///     let result = try Command(.built("resval"), "get", "excluded", path).run()
///     #expect(result.exitCode == 1)
package struct Command: Sendable {
    package var executable: FilePath
    package var arguments: [[UInt8]]
    /// What the command reads from standard input, which then ends.
    package var input: [UInt8] = []
    /// Variables set or, with nil, removed on top of this process's own, which are few: nothing of
    /// what the tests were started with leads to a home or to settings.
    package var environment: [String: String?] = [:]
    /// Where the command starts; nil for this process's own.
    package var workingDirectory: FilePath?
    /// The user, and group of the same number, to run as, without other groups; needs root.
    package var user: UInt32?
    /// When the command and its children are killed and the run fails.
    package var timeout: Duration = .seconds(120)

    /// Creates a command from a program and its arguments.
    package init(
        _ executable: FilePath, _ arguments: any CommandArgument..., in directory: FilePath? = nil,
        environment: [String: String?] = [:], input: [UInt8] = [], user: UInt32? = nil
    ) {
        self.init(
            executable, arguments: arguments, in: directory, environment: environment, input: input,
            user: user)
    }

    /// Creates a command from a program and its arguments.
    package init(
        _ executable: FilePath, arguments: [any CommandArgument], in directory: FilePath? = nil,
        environment: [String: String?] = [:], input: [UInt8] = [], user: UInt32? = nil
    ) {
        self.executable = executable
        self.arguments = arguments.map(\.argumentBytes)
        workingDirectory = directory
        self.environment = environment
        self.input = input
        self.user = user
    }

    /// This command with variables set or, with nil, removed.
    package func setting(_ variables: [String: String?]) -> Command {
        var command = self
        command.environment.merge(variables) { $1 }
        return command
    }

    /// Runs the command and waits for it.
    ///
    /// - Throws: ``CommandFailure`` when it cannot start or takes too long.
    package func run() throws -> CommandResult {
        let process = try SpawnedProcess(self)
        let (output, errors) = try process.exchange(input: input, timeout: timeout)
        return CommandResult(end: try process.wait(), output: output, errorOutput: errors)
    }

    /// Runs the command for its effect.
    ///
    /// - Returns: what it wrote to standard output, without line ends behind it.
    /// - Throws: ``CommandFailure`` when it does not exit with 0.
    @discardableResult
    package func runSuccessfully() throws -> String {
        let result = try run()
        guard result.exitCode == 0 else { throw failure(result.description) }
        return String(result.text.reversed().drop(while: \.isNewline).reversed())
    }

    /// Runs the command, which is expected to exit with a code and to write texts, among others.
    ///
    /// - Parameters:
    ///   - errors: what it writes to standard error.
    ///   - outputs: what it writes to standard output.
    @discardableResult
    package func run(
        exits code: Int32, says errors: [String], prints outputs: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        let result = try run()
        result.expect(
            exits: code, says: errors, prints: outputs, of: line, sourceLocation: sourceLocation)
        return result
    }

    /// Runs the command, which is expected to exit with a code and to write texts, among others.
    @discardableResult
    package func run(
        exits code: Int32, says errors: String..., prints outputs: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        try run(exits: code, says: errors, prints: outputs, sourceLocation: sourceLocation)
    }

    func failure(_ reason: String) -> CommandFailure {
        CommandFailure(command: line, reason: reason)
    }

    /// The program and its arguments, for messages.
    private var line: String {
        ([executable.bytes] + arguments).map(quotedForMessages).joined(separator: " ")
    }
}

extension FilePath {
    /// An executable of this package, beside the one that runs the tests.
    package static func built(_ name: String) -> FilePath { testExecutable.replacingLast(name) }

    /// A program of the system, by its name, looked up where `scripts/install-dependencies` puts what is for
    /// tests only, on the path, and where system tools lie.
    ///
    /// - Returns: nil when it is not installed.
    package static func tool(_ name: String) -> FilePath? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let directories = "/opt/resval-test-tools/bin:\(path):/usr/sbin:/sbin:/usr/bin:/bin"
            .split(separator: ":")
        return directories.lazy.map { FilePath(String($0)).appending(name) }
            .first { access($0.string, X_OK) == 0 }
    }

    private static let testExecutable: FilePath = {
        guard let real = realpath("/proc/self/exe", nil) else { return "" }
        defer { free(real) }
        return FilePath(platformString: real)
    }()

    private func replacingLast(_ name: String) -> FilePath {
        removingLastComponent().appending(name)
    }
}
