import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

extension BackupFixture {
    /// The command `resval-backup` with these arguments, which meets a script in restic's place. restic
    /// waits for locks for a second only.
    ///
    /// - Parameter script: what `/bin/sh` runs first, with restic's arguments, unless restic is only
    ///   asked for its version; the real restic, whose path is `$REAL`, follows.
    func command(
        _ arguments: [any CommandArgument], before script: String
    ) throws -> Command {
        let real = try #require(FilePath.tool("restic"))
        return try with(
            "restic",
            """
            REAL=\(real)
            [ "$1" != version ] || exec "$REAL" version
            for word; do
                shift
                case $word in --retry-lock=*) word=--retry-lock=1s;; esac
                set -- "$@" "$word"
            done
            \(script)
            exec "$REAL" "$@"

            """,
            command(arguments))
    }

    /// Restores the newest snapshot to the target, with a restic that is started by another program.
    ///
    /// - Parameter prefix: the shell words of that program.
    func restore(
        by prefix: String, _ arguments: any CommandArgument...
    ) throws -> CommandResult {
        try command(
            ["restore", "--snapshot", "latest", "--target", target] + arguments,
            before: "case $1 in restore) exec \(prefix) \"$REAL\" \"$@\";; esac"
        ).run()
    }

    /// Makes a snapshot with the tags that tell the SOURCEs, and without a record, as another client
    /// of the repository may.
    func makeForeignSnapshot(of path: FilePath, _ options: any CommandArgument...) throws {
        var words: [any CommandArgument] = ["-q", "-r", repository, "backup"]
        words += ["--host", try tool("hostname")]
        for tag in try ownTags() where tag.hasPrefix("resval-s") { words += ["--tag", tag] }
        guard let restic = FilePath.tool("restic") else { return }
        var command = Command(restic, arguments: words + options + [path])
        command.environment = environment
        try command.runSuccessfully()
    }

    /// The tags of the snapshot made last that has a record.
    func ownTags() throws -> [String] {
        try snapshotsOfRestic().last(where: \.hasRecord)?.allTags ?? []
    }

    /// The snapshots as restic lists them.
    func snapshotsOfRestic() throws -> [Snapshot] {
        let list = try restic("snapshots", "--json")
        var snapshots: [Snapshot] = []
        var elements = JSONElements()
        try Array(list.utf8).withUnsafeBytes { bytes in
            try elements.append(bytes) { element throws(JSONError) in
                snapshots.append(try Snapshot(json: element))
            }
        }
        return snapshots
    }

    /// The first digits of the identifiers that the snapshots had when they were made, in the order of
    /// their times.
    func originals() throws -> [String] {
        try snapshotsOfRestic().map { String($0.originalIdentifier.prefix(8)) }
    }

    /// How many snapshots there are that can be read.
    func snapshotCount() throws -> Int {
        try run("snapshots", "--json").text.split(separator: "\n").count
    }
}

/// Flips a bit of a byte in the middle of each of a directory's files that match.
///
/// - Parameter arguments: of `find`, behind the directory.
func damageFiles(in directory: FilePath, _ arguments: String...) throws {
    let script = """
        directory=$1; shift
        find "$directory" -type f "$@" | while read -r file; do
            chmod u+w "$file"
            at=$(($(stat -c %s "$file") / 2))
            byte=$(od -An -tu1 -j$at -N1 "$file")
            printf "\\\\$(printf %o $((byte ^ 1)))" |
                dd of="$file" bs=1 seek=$at conv=notrunc status=none
        done
        """
    let words: [any CommandArgument] = ["-c", script, "sh", directory] + arguments
    try Command("/bin/sh", arguments: words).runSuccessfully()
}
