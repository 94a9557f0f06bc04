import BackupEngines
import CommandSupport
import Subprocess
import SystemCalls
import SystemPackage

/// Runs a command of this program as a process of its own.
struct StepProcess {
    private let settings: BackupSettings
    private let advisedConfig: FilePath?
    private let progress: ProgressOptions

    /// - Parameters:
    ///   - advisedConfig: the configuration to name in advice; nil when commands find the
    ///     repository without.
    ///   - progress: how the step shows its progress.
    init(_ settings: BackupSettings, advisedConfig: FilePath?, progress: ProgressOptions) {
        self.settings = settings
        self.advisedConfig = advisedConfig
        self.progress = progress
    }

    /// How a step ended.
    struct End: Sendable {
        /// The exit code; 1 when a signal ended the process.
        var code: Int32
        /// The summary on standard output; empty for every command except `create`.
        var output: [UInt8] = []
    }

    /// Runs a step to its end. Its messages go to this process's standard error, and its output,
    /// except for that of `create`, to standard output.
    ///
    /// A stop request reaches the step once, as SIGINT, and the step is awaited. When this process
    /// is killed, the kernel sends the step SIGINT (where setpriv is installed).
    ///
    /// - Parameter isSilent: whether that output is discarded.
    func run(_ kind: BackupStep.Kind, isSilent: Bool) async throws -> End {
        do throws(Errno) {
            try requireDescriptors(spareDescriptors)
        } catch {
            Messages.write(about: [UInt8]?.none, backupError(error).description)
            return End(code: 1)
        }
        let configuration = try configuration(kind)
        let task = Task { () async throws -> (TerminationStatus, [UInt8]) in
            switch kind {
            case .create:
                let result = try await Subprocess.run(
                    configuration, input: .none, output: .bytes(limit: 65536),
                    error: .currentStandardError)
                return (result.terminationStatus, result.standardOutput)
            case _ where isSilent:
                let result = try await Subprocess.run(
                    configuration, input: .none, output: .discarded, error: .currentStandardError)
                return (result.terminationStatus, [])
            default:
                let result = try await Subprocess.run(
                    configuration, input: .none, output: .currentStandardOutput,
                    error: .currentStandardError)
                return (result.terminationStatus, [])
            }
        }
        let watcher = Task {
            while !StopRequest.isMade { try await Task.sleep(for: .milliseconds(50)) }
            task.cancel()
        }
        defer { watcher.cancel() }
        do {
            let (status, output) = try await task.value
            switch status {
            case .exited(let code): return End(code: code, output: output)
            case .signaled(let signal):
                Messages.write(
                    about: [UInt8]?.none, "\(kind.rawValue) was ended by signal \(signal)")
                return End(code: 1)
            }
        } catch {
            if StopRequest.isMade { return End(code: 130) }
            Messages.write(about: [UInt8]?.none, "\(kind.rawValue) cannot be run: \(error)")
            return End(code: 1)
        }
    }

    private func configuration(_ kind: BackupStep.Kind) throws -> Configuration {
        let program = try symbolicLinkTarget(FilePath("/proc/self/exe").withoutFollowing)
        var words = [program.bytes]
        if let launcher = ResticProgram.findLauncher(in: environmentValue("PATH") ?? []) {
            let options = ["--pdeathsig", "INT", "--"].map { Array($0.utf8) }
            words = [launcher.bytes] + options + words
        }
        var options = [Array("--progress=\(progress.form.rawValue)".utf8)]
        if kind != .create { options.append(Array("--later-step".utf8)) }
        if let advisedConfig {
            options += [Array("--advised-config".utf8), advisedConfig.bytes]
        }
        var arguments = settings.step(kind).arguments
        arguments.insert(contentsOf: options, at: 1)
        let environment = settings.environment(replacingIn: inheritedEnvironment())
        var platform = PlatformOptions()
        // A process group of its own: a signal from the terminal reaches the step through this
        // process, once.
        platform.processGroupID = 0
        platform.teardownSequence = [
            .send(signal: .interrupt, allowedDurationToNextStep: .seconds(600))
        ]
        return Configuration(
            executable: .path(FilePath(bytes: words[0])),
            arguments: Arguments((words.dropFirst() + arguments).map { $0 + [0] }),
            environment: .custom(environment.map { $0 + [0] }), platformOptions: platform)
    }
}
