import ResourceValues
import SystemPackage

/// Borg: every stored item by its absolute path.
///
/// Borg reads its list as text, and takes a carriage return in it for a newline.
struct BorgList: ListFormat {
    let name = "borg"
    let storesPlaintext = false
    let listsStoredItems = true

    func obstacle(toStoring path: [UInt8], kind: FileKind) -> String? {
        path.contains(UInt8(ascii: "\r"))
            ? "borg takes a carriage return in a name for a newline" : nil
    }

    func list(of plan: BackupPlan) -> BackupList { BackupList(.storedPaths(prefix: [])) }

    func command(for list: ListUse) -> ShellCommand {
        var command = ShellCommand("borg create --paths-from-stdin --paths-delimiter '\\0'")
        command.add("::'{hostname}-{now}'")
        command.add("< ", path: list.list)
        command.advice = ["set BORG_REPO to the repository"]
        return command
    }
}
