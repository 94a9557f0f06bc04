import ResourceValues
import SystemPackage

/// GNU tar: every stored item by name, relative to the root.
///
/// Names begin with `./`, so that none looks like an option and none is changed when it is
/// archived.
struct TarList: ListFormat {
    let name = "tar"
    let storesPlaintext = true
    let listsStoredItems = true
    // One less, for the leading dot.
    let longestPath: Int? = 4094

    func list(of plan: BackupPlan) -> BackupList { BackupList(.storedPaths(prefix: dot)) }

    // Options apply only to the lists after them.
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

/// bsdtar (libarchive): every stored item by name, relative to the root.
struct BsdtarList: ListFormat {
    let name = "bsdtar"
    let storesPlaintext = true
    let listsStoredItems = true
    let longestPath: Int? = 4094

    func list(of plan: BackupPlan) -> BackupList { BackupList(.storedPaths(prefix: dot)) }

    // Without --null, a line "-C" would change the directory.
    func command(for list: ListUse) -> ShellCommand {
        // Otherwise extracting changes names to their composed forms in a UTF-8 locale.
        var command = ShellCommand("LC_ALL=C bsdtar --create --file \"$ARCHIVE\" --format pax")
        command.add("--no-recursion --null --directory / --files-from")
        command.add(path: list.list)
        command.advice = [
            "set ARCHIVE to the archive's path; extracting needs -p to restore attributes, and "
                + "LC_ALL=C to leave names as they are"
        ]
        return command
    }
}

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

/// rsync: every stored item by name, relative to the root.
///
/// Names begin with `./`: rsync silently drops a name that begins with `#` or `;`.
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

/// The absolute paths of everything stored, each followed by a NUL, for any program.
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
        command.advice = ["replace ls with any program that takes paths"]
        return command
    }
}
