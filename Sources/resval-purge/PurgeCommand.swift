import ArgumentParser
import CommandSupport

/// The command `resval-purge`.
struct PurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resval-purge",
        abstract: "Free space by deleting temporary files, caches and what is marked purgeable.",
        discussion: """
            Nothing is deleted that is open, locked, too young, somebody else's, or in a directory \
            for documents, settings or keys; whole units go, or nothing of them.

            EXAMPLES
              resval-purge status                       how short space is, and what may go
              resval-purge plan --free 10G              what would be deleted for 10 GiB
              resval-purge run --free 10G               delete it
              resval-purge plan --free 10G --output p.json; resval-purge run p.json
                                                        delete that and nothing else
              resval-purge watch                        keep volumes from running full

            EXIT CODES
              0  done, or as much is free as was asked for
              1  so much cannot be freed; what is missing is said
              2  some items failed, or an error; the rest is done
              64 the command line was wrong
            """,
        version: CommandVersion.text,
        subcommands: [PlanCommand.self, RunCommand.self, StatusCommand.self, WatchCommand.self])
}
