import ArgumentParser
import CommandSupport
import ResourceValues
import StoragePolicy

/// The filters of `find`, which prints the items that match all of them.
struct FindFilter: ParsableArguments, Sendable {
    @Flag(help: "Items excluded from backups.")
    var excluded = false

    @Flag(help: "Items that may be deleted when space is short.")
    var purgeable = false

    @Option(help: ArgumentHelp("Items of this protection class.", valueName: "class"))
    var protection: FileProtection?

    @Flag(help: "Items with a malformed or unreadable mark.")
    var malformed = false

    @Flag(help: "Items with any mark (the default).")
    var marked = false

    /// Returns whether an item with these stored marks matches all filters.
    func fits(_ marks: Marks) -> Bool {
        if marks.isEmpty { return false }
        if excluded && marks.isExcludedFromBackup.value != true { return false }
        if purgeable && marks.isPurgeable.value != true { return false }
        if let protection, marks.fileProtection.value != protection { return false }
        return !malformed || marks.areBroken
    }

    /// Returns whether an item with this decision and these stored marks matches all filters.
    func fits(_ decision: Decision, _ marks: Marks) -> Bool {
        if decision.isUnmarked { return false }
        if excluded && !decision.isExcluded { return false }
        if purgeable && !decision.isPurgeable { return false }
        if let protection, decision.protectionClass != protection { return false }
        return !malformed || marks.areBroken
    }
}

extension FileProtection: ExpressibleByArgument {}
