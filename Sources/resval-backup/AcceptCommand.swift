import ArgumentParser
import BackupEngines
import CommandSupport
import ResourceValues
import SystemCalls

/// `resval-backup accept`.
struct AcceptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Accept a snapshot that covers less than the one before.",
        discussion: """
            A snapshot that newly excludes what the one before contains for another reason than \
            a mark or a setting of the owner, has 20 % fewer items or bytes, found a SOURCE empty or on another filesystem, or has no earlier snapshot with \
            a readable record to compare with, keeps forget and prune from removing anything until \
            it is accepted, or until a later one covers everything again. So does the newest one \
            as long as its own record cannot be read.

            What the owner excluded, and what was made before the clock passed over 30 days, is \
            held for 30 days instead. accept ends that, so that forget may remove the last \
            snapshot that has it. The repository stores the acceptance, so \
            that it counts for other machines and users.

            JSON FIELDS
            \(JSONFields.progress)

            EXAMPLES
              resval-backup show latest      what is excluded, and why
              resval-backup accept           the newest snapshot that waits
              resval-backup accept 1a2b3c4d
            """)

    @Argument(
        help: ArgumentHelp(
            "The first digits of the snapshot's ID, or latest. Without it, the one that waits.",
            valueName: "snapshot"))
    var snapshot: String?

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    func validate() throws { _ = try snapshot.map { try SnapshotChoice(argument: $0) } }

    func run() async throws {
        let choice = try snapshot.map { try SnapshotChoice(argument: $0) }
        let display = progress.begin("reading the snapshots")
        let accepted = try await running { [repository] in
            defer { display.end() }
            return try await repository.engine(showing: display).accept(choice)
        }
        noteInStatus(accepted)
        var buffer = OutputBuffer()
        buffer.append(text: "snapshot \(accepted.shortIdentifier) is accepted\n")
        buffer.flush()
    }

    /// Notes the acceptance in the status of the last run, if that is where the snapshot is from.
    private func noteInStatus(_ accepted: Snapshot) {
        // Without a state directory there is no status.
        guard let directory = try? StateDirectory.path() else { return }
        do throws(FileError) {
            try StatusFile(in: directory).accept(accepted)
        } catch {
            Messages.warn(
                about: error.path?.bytes,
                "\(error.description); so resval-backup status still shows the snapshot as waiting")
        }
    }
}

extension SnapshotChoice {
    /// Parses an argument.
    ///
    /// - Throws: `ValidationError` when it cannot name a snapshot.
    init(argument: String) throws {
        guard let choice = SnapshotChoice(argument) else {
            throw ValidationError(
                "a snapshot is named by at least four hexadecimal digits, or latest")
        }
        self = choice
    }
}
