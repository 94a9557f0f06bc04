import SystemPackage

/// The absolute paths of everything stored, a NUL behind each, for any program.
struct NulList: ListFormat {
    let name = "nul"
    let storesPlaintext = true
    let listsStoredItems = true
    let longestPath: Int? = nil

    func list(of plan: BackupPlan) -> BackupList { BackupList(.storedPaths(prefix: [])) }

    func command(for list: ListUse) -> ShellCommand {
        var command = ShellCommand("xargs --null --no-run-if-empty")
        command.add("--arg-file=", path: list.list)
        command.add("ls --directory --")
        command.advice = ["put any program that takes paths in the place of ls"]
        return command
    }
}
