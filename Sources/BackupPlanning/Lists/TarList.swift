import SystemPackage

/// GNU tar: every stored item by name, from the root on.
///
/// Names begin with `./`: none looks like an option, and none is changed on its way in.
struct TarList: ListFormat {
    let name = "tar"
    let storesPlaintext = true
    let listsStoredItems = true
    // One less for the dot in front.
    let longestPath: Int? = 4094

    func list(of plan: BackupPlan) -> BackupList { BackupList(.storedPaths(prefix: dot)) }

    // The options count for the lists behind them.
    func command(for list: ListUse) -> ShellCommand {
        var command = ShellCommand(
            "tar --create --file=\"$ARCHIVE\" --xattrs --sparse --directory=/")
        command.add("--no-recursion --null --verbatim-files-from")
        command.add("--files-from=", path: list.list)
        command.advice = [
            "set ARCHIVE to the archive's path; extracting needs --xattrs and, for a user other than "
                + "root with read-only files, another program: GNU tar leaves those empty"
        ]
        return command
    }
}

let dot = [UInt8(ascii: ".")]
