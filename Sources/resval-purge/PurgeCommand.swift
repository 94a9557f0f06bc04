import ArgumentParser
import CommandSupport

struct PurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resval-purge",
        abstract: "Free space by deleting temporary files, caches and what is marked purgeable.",
        discussion: """
            Nothing is deleted that is in use, locked, too young, another user's, or in a \
            directory for documents, settings or keys. A directory is deleted with everything in \
            it, or not at all.

            EXAMPLES
              resval-purge status                       space, and how much may be deleted
              resval-purge plan --free 10G              what would be deleted for 10 GiB
              resval-purge run --free 10G               delete it
              resval-purge plan --free 10G --output p.json; resval-purge run p.json
                                                        delete that and nothing else
              resval-purge watch                        keep volumes from running full

            EXIT CODES
              0  done, or the target was reached
              1  the target cannot be reached; a message says by how much
              2  some items failed, or an error; the rest is done
              64 the command line was wrong
            """,
        subcommands: [PlanCommand.self, RunCommand.self, StatusCommand.self, WatchCommand.self])

    @OptionGroup var version: VersionOption
}
