import SystemPackage

/// rsync: every stored item by name, from the root on.
///
/// Names begin with `./`: rsync drops a name that begins with `#` or `;`, and says nothing.
struct RsyncList: ListFormat {
    let name = "rsync"
    let storesPlaintext = true
    let listsStoredItems = true
    let longestPath: Int? = 4094

    func list(of plan: BackupPlan) -> BackupList { BackupList(.storedPaths(prefix: dot)) }

    // --archive does not recurse when names come from a list.
    func command(for list: ListUse) -> ShellCommand {
        var command = ShellCommand("rsync --archive --hard-links --acls --xattrs --sparse")
        command.add("--numeric-ids --from0")
        command.add("--files-from=", path: list.list)
        command.add("/ \"$DESTINATION\"")
        command.advice = ["set DESTINATION to a directory, or to HOST:DIRECTORY"]
        return command
    }
}
