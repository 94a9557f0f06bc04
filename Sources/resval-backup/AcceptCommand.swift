import ArgumentParser
import Backups
import CommandSupport
import SystemCalls

struct AcceptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Accept that the newest snapshot covers less.",
        discussion: """
            Earlier snapshots that alone have something are held, and forget leaves them alone: \
            what the owner excluded for 30 days, and until it is accepted what could not be stored, \
            what another reason excludes, and a SOURCE that became less by a fifth, or that is empty, \
            missing, or leads to another filesystem. So are all made before the clock jumped.

            accept ends that, but for what should be stored and still is not, and what is on a \
            medium that is not here. It gives another time to snapshots that are dated ahead of the \
            clock, and to the newest one where another is dated after it. Where a copy of this \
            machine went on with its snapshots, or its state directory was lost, accept makes this \
            one the machine that made the newest snapshot. Where the repository is not the disk it \
            was, that is all that is accepted. This is noted in the state directory.

            EXAMPLES
              resval-backup show latest      what it excludes, and what it holds
              resval-backup accept
            """)

    @Argument(
        help: ArgumentHelp(
            "The SOURCEs of the snapshots (default: the configuration's, or the only set with "
                + "something to accept).",
            valueName: "source"))
    var sources: [PathArgument] = []

    @Flag(help: "Print the result as a JSON object: see resval-json(5).")
    var json = false

    @OptionGroup var repository: RepositoryOptions

    func run() async throws {
        let scope = repository.scope(of: sources)
        let accepted = try await repository.working("reading the snapshots") {
            engine -> Acceptance? in
            // What the newest snapshot there lacks was not asked about.
            if try await engine.noteRepository(asFirst: false) { return nil }
            return try await engine.accept(scope)
        }
        if let accepted { noteInStatus(accepted) }
        printResult(asJSON: json) { line in
            line.add("snapshot", accepted?.snapshot.identifier)
            line.add("isTakenOver", accepted?.isTakenOver ?? false)
            line.add("redatedSnapshots", accepted?.redated ?? 0)
        } text: { buffer in
            guard let accepted else { return buffer.append("the repository is accepted\n") }
            write(accepted, to: &buffer)
        }
    }

    private func write(_ accepted: Acceptance, to buffer: inout OutputBuffer) {
        let snapshot = accepted.snapshot
        buffer.append(text: "snapshot \(snapshot.shortIdentifier) is accepted\n")
        if accepted.isTakenOver {
            buffer.append(text: "this installation goes on with the snapshots that ")
            buffer.append(name: Array("\(snapshot.userName) on \(snapshot.hostName)".utf8))
            buffer.append(text: " made\n")
        }
        if accepted.redated > 0 {
            buffer.append(
                text:
                    "\(counted(accepted.redated, "snapshot")) with a wrong time got another\n")
        }
    }

    /// Notes the acceptance in the status of the last run, if that is where the snapshot is from.
    private func noteInStatus(_ accepted: Acceptance) {
        do throws(FileError) {
            guard let directory = try repository.configuration.stateDirectory() else { return }
            try RunStatus.accept(accepted, in: directory)
        } catch {
            Messages.warn(
                about: error.path?.bytes,
                "\(error.description); so resval-backup status still shows what was held")
        }
    }
}
