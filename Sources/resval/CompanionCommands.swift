import ArgumentParser
import CommandSupport

// Declared for the help only. Companion.runIfNamed() runs the companion before arguments are
// parsed, because the companion must receive them byte for byte.

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Make backups that obey the marks: runs resval-backup.",
        discussion: """
            EXAMPLES
              resval backup --help
              resval backup plan ~
            """)

    @Argument(parsing: .captureForPassthrough, help: "Arguments for resval-backup.")
    var arguments: [String] = []
}

struct PurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Free space by deleting caches and purgeable items: runs resval-purge.",
        discussion: """
            EXAMPLES
              resval purge --help
              resval purge status
            """)

    @Argument(parsing: .captureForPassthrough, help: "Arguments for resval-purge.")
    var arguments: [String] = []
}
