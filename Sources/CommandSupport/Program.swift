import ArgumentParser
import Glibc
import Synchronization
import SystemCalls
import SystemPackage

extension ParsableCommand {
    /// Runs this command as the program, with arguments as bytes, checked output and this package's
    /// exit codes.
    ///
    /// - Parameter synonyms: commands of other programs, for which this program's are suggested.
    package static func runAsProgram(synonyms: [String: String]) -> Never {
        Program(
            root: Self.self, synonyms: synonyms, arguments: ArgumentBytes.processArguments()
        ).run()
    }

    /// Runs a command as the program without the argument parser, with checked output and this package's
    /// exit codes. Returns where there is no such command.
    ///
    /// For command lines so simple that parsing them would take most of the time.
    ///
    /// - Parameter name: the program's name. Asking the command for it would build the table of its
    ///   subcommands.
    package static func runDirectly(as name: String, _ command: () -> (() throws -> Void)?) {
        let program = Program(root: Self.self)
        if let code = program.exitCode(as: name, ofRunning: command) { program.finish(with: code) }
    }
}

extension AsyncParsableCommand {
    /// Runs this command as the program, as
    /// ``ParsableCommand/runAsProgram(synonyms:)`` does.
    ///
    /// To be called by a main program that is not asynchronous itself: the runtime of one that is
    /// opens descriptors at its start, also in the place of a closed standard output.
    ///
    /// - Parameter uncaughtCode: the exit code for an error thrown by `run()` other than an exit code, and
    ///   for output that could not be written.
    package static func runAsyncProgram(uncaughtCode: Int32, synonyms: [String: String]) -> Never {
        let program = Program(
            root: Self.self, uncaughtCode: uncaughtCode, synonyms: synonyms,
            arguments: ArgumentBytes.processArguments())
        program.prepare(as: _commandName)
        Task { await program.runAsync() }
        // The task ends the process.
        while true { pause() }
    }
}

/// One run of a command line program, from its arguments to its exit.
struct Program {
    let root: any ParsableCommand.Type
    var uncaughtCode: Int32 = 2
    var synonyms: [String: String] = [:]
    var arguments: [String] = []

    /// Whether a failure is printed in JSON, too.
    private var answersInJSON: Bool { arguments.prefix { $0 != "--" }.contains("--json") }

    func run() -> Never {
        prepare(as: root._commandName)
        var command = parseOrExit()
        finish(with: exitCode(ofRunning: type(of: command)) { try command.run() })
    }

    /// Runs the command after ``prepare(as:)``.
    func runAsync() async -> Never {
        var command = parseOrExit()
        if let command = command as? any AsyncParsableCommand {
            finish(with: await exitCode(ofRunning: command))
        }
        finish(with: exitCode(ofRunning: type(of: command)) { try command.run() })
    }

    // These functions return before the process exits, so that the command, the error and what they
    // contain are released.

    fileprivate func exitCode(
        as name: String, ofRunning command: () -> (() throws -> Void)?
    ) -> Int32? {
        guard let body = command() else { return nil }
        prepare(as: name)
        return exitCode(ofRunning: root, body)
    }

    private func exitCode(
        ofRunning command: any ParsableCommand.Type, _ body: () throws -> Void
    ) -> Int32 {
        do { try body() } catch { return exitCode(for: error, thrownBy: command) }
        return 0
    }

    private func exitCode(ofRunning command: any AsyncParsableCommand) async -> Int32 {
        var command = command
        do { try await command.run() } catch {
            return exitCode(for: error, thrownBy: type(of: command))
        }
        return 0
    }

    /// Opens closed standard descriptors, ends where no file can be examined, and begins to listen to
    /// signals.
    func prepare(as name: String) {
        Messages.setProgramName(name)
        openStandardDescriptors()
        guard AvailableCalls.statx else {
            Messages.write(
                "statx(2) is not available: Linux 4.11 is needed, without a filter that refuses it")
            exit(uncaughtCode)
        }
        StopRequest.beginListening()
    }

    /// Opens standard descriptors that are closed. Otherwise the next file opened would get such a
    /// descriptor, and the program's output would be written to it.
    private func openStandardDescriptors() {
        for (descriptor, flags) in [
            (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDWR),
        ] where fcntl(descriptor, F_GETFD) == -1 {
            // open(2) returns the lowest free descriptor, which is this one. Reading from standard
            // input and writing to standard output still fail, as they should.
            _ = open("/dev/null", flags)
        }
    }

    private func parseOrExit() -> any ParsableCommand {
        let (command, code) = parse()
        guard let command else { finish(with: code) }
        return command
    }

    /// Returns the command to run; without one, the exit code: what there is to say was printed. It
    /// returns before the process exits, too.
    private func parse() -> (command: (any ParsableCommand)?, code: Int32) {
        do {
            if let answer = try DescriptionRequest.answer(arguments, about: root) {
                StandardOutput.shared.write(answer)
                return (nil, 0)
            }
        } catch {
            return (nil, exitCode(for: error, thrownBy: root))
        }
        do {
            do {
                return (try command(of: ArgumentPacking.packed(arguments)), 0)
            } catch  where showsPackedOperands(error) {
                return (try command(of: arguments), 0)
            }
        } catch {
            return (nil, report(error))
        }
    }

    /// Whether the message would show packed operands, which have to be shown as they were given.
    private func showsPackedOperands(_ error: any Error) -> Bool {
        root.fullMessage(for: error).unicodeScalars.contains(ArgumentPacking.separator)
    }

    /// Parses with the subcommand's own parser, which takes half the time of building all parsers.
    /// Arguments it rejects are parsed again from the root, for messages with the complete usage.
    private func command(of arguments: [String]) throws -> any ParsableCommand {
        if let subcommand = arguments.first.flatMap({ root.subcommand(named: $0) }),
            subcommand.configuration.subcommands.isEmpty,
            let command = try? subcommand.parseAsRoot(Array(arguments.dropFirst())),
            type(of: command) == subcommand
        {
            return command
        }
        if let complaint = unknownCommand(in: arguments) { throw ValidationError(complaint) }
        return try root.parseAsRoot(arguments)
    }

    /// Prints the parser's output: help on standard output, errors on standard error.
    private func report(_ error: any Error) -> Int32 {
        let code = root.exitCode(for: error).rawValue
        let text = root.fullMessage(for: error)
        if code == 0 {
            StandardOutput.shared.write(optionsFirst(text) + "\n")
        } else {
            let complaint =
                text.hasPrefix(root._errorPrefix)
                ? text.dropFirst(root._errorPrefix.count) : text[...]
            // The parser begins its messages with a capital letter.
            writeComplaint(complaint.prefix(1).lowercased() + complaint.dropFirst())
        }
        return code
    }

    /// Returns a help text with usage and options before the discussion, which the parser puts last.
    private func optionsFirst(_ text: String) -> String {
        guard text.hasPrefix("OVERVIEW: "), let usage = text.firstRange(of: "\nUSAGE: "),
            let abstract = text.firstRange(of: "\n\n")
        else { return text }
        let parts = [
            text[..<abstract.lowerBound].dropFirst("OVERVIEW: ".count),
            shortened(text[usage.lowerBound...].drop(while: \.isNewline)),
            text[min(abstract.upperBound, usage.lowerBound)..<usage.lowerBound],
        ]
        return parts.map { part in
            part.drop(while: \.isNewline).reversed().drop(while: \.isNewline).reversed()
        }.filter { !$0.isEmpty }.map { String($0) }.joined(separator: "\n\n")
    }

    /// Returns usage and options with `[<options>]` for all options in a usage that is too long.
    private func shortened(_ text: Substring) -> Substring {
        let usage = text.prefix { !$0.isNewline }
        guard usage.utf8.count >= 80 else { return text }
        let parts = usage.split(separator: " [").enumerated()
            .filter { $0.offset == 0 || !$0.element.hasPrefix("-") }.map(\.element)
        return parts.joined(separator: " [") + " [<options>]" + text[usage.endIndex...]
    }

    private func writeComplaint(_ text: String) {
        let (complaint, help) =
            text.firstRange(of: "\nUsage: ").map {
                (text[..<$0.lowerBound], text[$0.lowerBound...])
            } ?? (text[...], "")
        let advice = help.split(separator: "'").first { $0.hasSuffix(" --help") }
        let cause = complaint.firstRange(of: "\nHelp: ").map { complaint[..<$0.lowerBound] }
        // A list in it has lines of its own on a terminal.
        let sentence = String(cause ?? complaint).replacing("\n ", with: "")
        Messages.note(nil, sentence + (advice.map { " (\($0))" } ?? ""))
        let usage = help.isEmpty ? "" : "\n" + shortened(help.dropFirst())
        let line = "\(Messages.programName): \(complaint)\(usage)\n"
        StandardError.write(Array(safeMessageText(line, keepingNewlines: true).utf8))
    }

    private func exitCode(
        for error: any Error, thrownBy command: any ParsableCommand.Type
    ) -> Int32 {
        switch error {
        case let code as ExitCode:
            return code.rawValue
        case let error as ValidationError:
            let subcommand = command == root ? "" : " \(command._commandName)"
            writeComplaint(
                """
                \(error.message)
                Usage: \(root.usageString(for: command))
                  See '\(root._commandName)\(subcommand) --help' for more information.
                """)
            return ExitCode.validationFailure.rawValue
        case let error as FileError:
            Messages.write(error)
            return uncaughtCode
        case _ where root.exitCode(for: error) == .success:
            // The parser reports requested help as an error.
            return report(error)
        default:
            Messages.write(String(describing: error))
            return uncaughtCode
        }
    }

    /// Prints the error of a command that failed before its first result.
    private func writeObject(_ error: ReportedError, _ code: Int32) {
        var line = JSONLine.output()
        line.add("type", "error")
        line.add(error)
        line.add("exitCode", code)
        StandardOutput.shared.write(line.ended())
    }

    /// Ends the process: by the signal that requested the stop, otherwise with the exit code.
    fileprivate func finish(with code: Int32) -> Never {
        StandardError.endProgress()
        if answersInJSON, code != 0, StopRequest.signal == nil,
            !StandardOutput.shared.hasWritten, let error = Messages.firstError
        {
            writeObject(error, code)
        }
        let failure = StandardOutput.shared.finish()
        if let signal = StopRequest.signal { StopRequest.end(by: signal) }
        switch failure {
        case nil:
            exit(code)
        case .brokenPipe?:
            StopRequest.end(by: SIGPIPE)
        case let errno?:
            Messages.write("cannot write to standard output: \(errno)")
            exit(uncaughtCode)
        }
    }
}

/// Parts a message, `what is wrong (how to go on)`.
func parted(_ message: String) -> (text: String, advice: String?) {
    guard message.hasSuffix(")") else { return (message, nil) }
    var depth = 0
    for index in message.indices.reversed() {
        switch message[index] {
        case ")": depth += 1
        case "(": depth -= 1
        default: break
        }
        guard depth == 0 else { continue }
        let text = message[..<index]
        guard text.hasSuffix(" "), text.count > 1 else { break }
        return (String(text.dropLast()), String(message[index...].dropFirst().dropLast()))
    }
    return (message, nil)
}

/// The outcome of a command so far: the exit code can only get worse. Threads may share one.
package final class Outcome: Sendable {
    private let code = Atomic<Int32>(0)

    package init() {}

    /// Notes that the answer is "no": exit code 1, unless something failed.
    package func noteNo() { raise(to: 1) }

    /// Notes that something failed while the rest is done: exit code 2.
    package func noteFailure() { raise(to: 2) }

    package func report(_ error: FileError) {
        Messages.write(error)
        noteFailure()
    }

    /// Reports an error of a file, with the path as the user gave it, and notes the failure.
    package func report(_ error: FileError, at path: some Sequence<UInt8>) {
        report(about: Array(path), error.description)
    }

    /// Reports what is wrong with a path, or with none, and notes the failure.
    package func report(about path: [UInt8]?, _ text: String) {
        Messages.write(about: path, text)
        noteFailure()
    }

    package var hasFailures: Bool { code.load(ordering: .relaxed) >= 2 }

    /// Ends a command's `run()`: throws the exit code unless it is 0.
    package func finish() throws {
        let code = code.load(ordering: .relaxed)
        if code != 0 { throw ExitCode(code) }
    }

    private func raise(to newCode: Int32) { code.max(newCode, ordering: .relaxed) }
}

package enum CommandVersion {
    package static let text = "0.1.0"
}

/// The option of a program that shows its version, for its help: ``DescriptionRequest`` answers it. The
/// parser's own would be one of each command, too.
package struct VersionOption: ParsableArguments {
    @Flag(help: "Show the version.")
    var version = false

    package init() {}

    /// The parser takes a program's options for its commands', too.
    package func validate() throws {
        if version { throw ValidationError("unknown option '--version'") }
    }
}
