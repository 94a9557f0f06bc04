import SystemPackage

/// restic: the SOURCEs with a list of exclusions, or two lists when that would be slow.
struct ResticList: ListFormat {
    let name = "restic"
    let storesPlaintext = false
    let listsStoredItems = false

    func list(of plan: BackupPlan) throws -> BackupList {
        let selection = try plan.resticSelection()
        switch selection.targets {
        case .sources: return BackupList(.bytes(selection.excludeFile))
        case .list(let paths):
            return BackupList(.bytes(paths), excludes: selection.excludeFile)
        }
    }

    func command(for list: ListUse) -> ShellCommand {
        var command = ShellCommand("restic backup")
        if let excludes = list.excludes {
            command.add("--files-from-raw=", path: list.list)
            command.add("--exclude-file=", path: excludes)
            command.add("${PARENT:+--parent=\"$PARENT\"}")
            command.advice = [
                "from the second time on, set PARENT to the ID of the snapshot before: restic does "
                    + "not find it by itself for a list, and would read every file again"
            ]
        } else {
            command.add("--exclude-file=", path: list.list)
            for source in list.sources { command.add(path: source) }
        }
        command.advice.append("set RESTIC_REPOSITORY to the repository")
        return command
    }
}
