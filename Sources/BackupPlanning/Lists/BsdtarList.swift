import SystemPackage

/// bsdtar (libarchive): every stored item by name, from the root on.
struct BsdtarList: ListFormat {
    let name = "bsdtar"
    let storesPlaintext = true
    let listsStoredItems = true
    let longestPath: Int? = 4094

    func list(of plan: BackupPlan) -> BackupList { BackupList(.storedPaths(prefix: dot)) }

    // Without --null a line "-C" would change the directory.
    func command(for list: ListUse) -> ShellCommand {
        // Else extracting changes names to their composed forms where the locale is one of UTF-8.
        var command = ShellCommand("LC_ALL=C bsdtar --create --file \"$ARCHIVE\" --format pax")
        command.add("--no-recursion --null --directory / --files-from")
        command.add(path: list.list)
        command.advice = [
            "set ARCHIVE to the archive's path; extracting needs -p to bring attributes back, and "
                + "LC_ALL=C to leave names as they are"
        ]
        return command
    }
}
