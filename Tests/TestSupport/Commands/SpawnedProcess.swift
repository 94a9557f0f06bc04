import CTestSupport
import Glibc
import SystemPackage

/// A process started by `posix_spawn(3)`, which takes arguments as bytes, and the pipes to it.
struct SpawnedProcess: ~Copyable {
    private let command: Command
    private let identifier: pid_t
    private let input: PipeEnd
    private let output: PipeEnd
    private let errors: PipeEnd

    init(_ command: Command) throws {
        _ = ignoreBrokenPipes
        self.command = command
        let (inputReader, inputWriter) = try PipeEnd.makePipe()
        let (outputReader, outputWriter) = try PipeEnd.makePipe()
        let (errorsReader, errorsWriter) = try PipeEnd.makePipe()
        let invocation = try Invocation(command)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inputReader.descriptor, 0)
        posix_spawn_file_actions_adddup2(&actions, outputWriter.descriptor, 1)
        posix_spawn_file_actions_adddup2(&actions, errorsWriter.descriptor, 2)
        if let program = invocation.program {
            posix_spawn_file_actions_adddup2(&actions, program, Invocation.programDescriptor)
        }
        let firstUnused = Invocation.programDescriptor + (invocation.program == nil ? 0 : 1)
        test_add_close_from(&actions, firstUnused)
        if let directory = command.workingDirectory {
            _ = directory.withPlatformString {
                test_add_working_directory(&actions, $0)
            }
        }
        identifier = try Self.spawn(invocation, &actions, for: command)
        (input, output, errors) = (inputWriter, outputReader, errorsReader)
    }

    private static func spawn(
        _ invocation: borrowing Invocation, _ actions: inout posix_spawn_file_actions_t,
        for command: Command
    ) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A group of its own, so that a timeout reaches the command's children too.
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))
        posix_spawnattr_setpgroup(&attributes, 0)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        var identifier: pid_t = 0
        let error = invocation.withPointers { executable, arguments, environment in
            posix_spawn(&identifier, executable, &actions, &attributes, arguments, environment)
        }
        guard error == 0 else { throw command.failure("\(Errno(rawValue: error))") }
        return identifier
    }

    /// Writes the input and reads both outputs to their ends.
    ///
    /// - Throws: ``CommandFailure`` after killing the process when that takes longer than `timeout`.
    func exchange(
        input bytes: [UInt8], timeout: Duration
    ) throws -> (output: [UInt8], errors: [UInt8]) {
        let deadline = ContinuousClock.now + timeout
        var rest = bytes[...]
        var (outputBytes, errorBytes): ([UInt8], [UInt8]) = ([], [])
        if rest.isEmpty { input.close() }
        while output.isOpen || errors.isOpen || input.isOpen {
            guard ContinuousClock.now < deadline else {
                kill(-identifier, SIGKILL)
                _ = try wait()
                throw command.failure("killed, since it took longer than \(timeout)")
            }
            var waiting = [
                pollfd(fd: input.descriptor, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: output.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: errors.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            // A closed end is -1, which poll(2) passes over.
            poll(&waiting, nfds_t(waiting.count), 100)
            if waiting[0].revents != 0 { input.write(&rest) }
            if waiting[1].revents != 0 { output.read(into: &outputBytes) }
            if waiting[2].revents != 0 { errors.read(into: &errorBytes) }
        }
        return (outputBytes, errorBytes)
    }

    /// Waits for the process to end.
    func wait() throws -> CommandResult.End {
        var status: CInt = 0
        while waitpid(identifier, &status, 0) < 0 {
            guard errno == EINTR else {
                throw command.failure("waitpid: \(Errno(rawValue: errno))")
            }
        }
        // The encoding that WIFEXITED, WEXITSTATUS and WTERMSIG take apart.
        let signal = status & 0x7F
        return signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal)
    }
}

/// Writing to a command that has gone must be an error, not the end of all tests.
private let ignoreBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()
