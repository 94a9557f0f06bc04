import CommandSupport
import StoragePolicy
import SystemCalls
import SystemPackage

/// A command that `run` executes: its name and its arguments.
struct BackupStep: Sendable, Hashable {
    /// The kinds of steps, named after the commands.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        case create, forget, prune, verify
    }

    /// The command.
    let kind: Kind
    /// The arguments, the command's name first.
    let arguments: [[UInt8]]
}

extension BackupSettings {
    /// Returns the command line of a step.
    func step(_ kind: BackupStep.Kind) -> BackupStep {
        var words: [[UInt8]] = []
        switch kind {
        case .create: words += create
        case .forget: words += forget
        case .prune: break
        case .verify: if verifyReadsData { words.append(Array("--read-data".utf8)) }
        }
        return BackupStep(kind: kind, arguments: [Array(kind.rawValue.utf8)] + words)
    }

    /// The environment variables that give a password.
    static let passwordVariables = [
        "RESTIC_PASSWORD", "RESTIC_PASSWORD_FILE", "RESTIC_PASSWORD_COMMAND",
    ]

    /// The environment variables that lead a command to the repository.
    ///
    /// The repository's location may contain a password, which every process on the machine could
    /// read in the arguments.
    var variables: [(name: String, value: [UInt8])] {
        let location = (name: "RESVAL_BACKUP_REPOSITORY", value: Array(repository.utf8))
        return switch password {
        case .environment: [location]
        case .file(let path): [location, ("RESTIC_PASSWORD_FILE", path.bytes)]
        case .text(let text): [location, ("RESTIC_PASSWORD", Array(text.utf8))]
        case .command(let command): [location, ("RESTIC_PASSWORD_COMMAND", Array(command.utf8))]
        }
    }

    /// Returns an environment with these variables in place of those they contradict.
    func environment(replacingIn inherited: [[UInt8]]) -> [[UInt8]] {
        let added = variables
        let replaced =
            added.map(\.name) + (password == .environment ? [] : Self.passwordVariables)
        let kept = inherited.filter { variable in
            !replaced.contains { variable.starts(with: "\($0)=".utf8) }
        }
        return kept + added.map { Array("\($0.name)=".utf8) + $0.value }
    }

    private var create: [[UInt8]] {
        var words = ["--json-counts"]
        if let markers {
            words += ["--markers", markers.map(\.rawValue).joined(separator: ",")]
        }
        if !usesLocations { words.append("--no-locations") }
        if let largestFile { words += ["--exclude-larger-than", String(largestFile.bytes)] }
        if allowsPlaintext { words.append("--allow-plaintext") }
        words += tags.map { "--tag=\($0)" }
        return words.map { Array($0.utf8) } + operands
    }

    private var forget: [[UInt8]] {
        retention.map { Array("--\($0.name)=\($0.value)".utf8) } + operands
    }

    private var operands: [[UInt8]] { [Array("--".utf8)] + sources.map(\.bytes) }
}
