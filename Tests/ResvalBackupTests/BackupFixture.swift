import Glibc
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

/// A repository with its password, and a directory to back up.
struct BackupFixture {
    /// The directory that holds everything.
    let base: FilePath
    /// The user who runs the commands; nil for the one who runs the tests.
    let user: UInt32?
    /// Whether repository, password and all else come from a configuration.
    var isConfigured = false

    /// The directory to back up.
    var source: FilePath { base.appending("source") }
    /// The path of something in the directory to back up.
    func callAsFunction(_ path: String) -> FilePath { source.appending(path) }

    /// The repository.
    var repository: FilePath { base.appending("repository") }
    /// A directory that does not exist, for a restore.
    var target: FilePath { base.appending("target") }

    var environment: [String: String?] {
        let (home, cache) = ("\(base)/home", "\(base)/cache")
        return isConfigured
            ? [
                "HOME": home, "RESTIC_CACHE_DIR": cache, "XDG_CONFIG_HOME": "\(base)/config",
                "XDG_STATE_HOME": "\(state)",
            ]
            : [
                "HOME": home, "RESTIC_CACHE_DIR": cache, "RESTIC_PASSWORD_FILE": "\(base)/password",
                "RESVAL_BACKUP_REPOSITORY": "\(repository)",
            ]
    }

    /// The command `resval-backup` with these arguments.
    func command(_ arguments: [any CommandArgument]) -> Command {
        Command(.built("resval-backup"), arguments: arguments, environment: environment, user: user)
    }

    /// Runs `resval-backup`.
    func run(_ arguments: any CommandArgument...) throws -> CommandResult {
        try command(arguments).run()
    }

    /// Runs `resval-backup`, which is expected to exit with a code and to write texts, among others.
    @discardableResult
    func run(
        _ arguments: any CommandArgument..., exits code: Int32, says errors: String...,
        prints outputs: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        try command(arguments).run(
            exits: code, says: errors, prints: outputs, sourceLocation: sourceLocation)
    }

    /// Makes a snapshot of the source.
    @discardableResult
    func create(
        _ options: any CommandArgument..., exits code: Int32 = 0, says errors: String...,
        prints outputs: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        try command(["create", source] + options).run(
            exits: code, says: errors, prints: outputs, sourceLocation: sourceLocation)
    }

    /// Restores the newest snapshot, or paths of it.
    ///
    /// - Parameter other: where to; nil for the target.
    @discardableResult
    func restore(
        _ arguments: any CommandArgument..., to other: FilePath? = nil, exits code: Int32 = 0,
        says errors: String..., prints outputs: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        try command(["restore", "--snapshot", "latest", "--target", other ?? target] + arguments)
            .run(exits: code, says: errors, prints: outputs, sourceLocation: sourceLocation)
    }

    /// Expects that the target has all of the source, or of an item of it, and nothing else.
    func expectRestored(
        _ path: FilePath? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let (path, restored) = (path ?? source, try TreeListing(of: self.restored(path ?? source)))
        #expect(
            try restored.differences(from: TreeListing(of: path)) == [],
            sourceLocation: sourceLocation)
    }

    /// Marks an item as excluded from backups.
    func exclude(_ path: FilePath) throws {
        try tool("setfattr", "-n", "user.resval.isExcludedFromBackup", "-v", "true", path)
    }

    /// Takes such a mark away.
    func include(_ path: FilePath) throws {
        try tool("setfattr", "-x", "user.resval.isExcludedFromBackup", path)
    }

    /// Makes a file of so many random MiB in the source.
    func addNoise(_ name: FileName = "large", megabytes: Int) throws {
        try tool(
            "dd", "if=/dev/urandom", "of=\(source.appending(name))", "bs=1M",
            "count=\(megabytes)", "status=none")
    }

    /// Forgets all but the last snapshot, and returns how many are left.
    func forget() throws -> Int {
        try runSuccessfully("forget", "--keep-last", "1")
        return try snapshotCount()
    }

    /// The full identifiers of the snapshots, the oldest first.
    func snapshotIdentifiers() throws -> [String] {
        ResvalBackupTests.snapshotIdentifiers(in: try runSuccessfully("snapshots", "--json"))
    }

    /// Runs `resval-backup`, which must succeed.
    @discardableResult
    func runSuccessfully(_ arguments: any CommandArgument...) throws -> String {
        try command(arguments).runSuccessfully()
    }

    /// Runs a shell script with `$RESVAL` and `$RESTIC` as the programs, and these arguments.
    ///
    /// - Parameter namespace: the option of `unshare` for a namespace of its own; needs root.
    func script(
        _ text: String, _ arguments: any CommandArgument..., unsharing namespace: String? = nil
    ) throws -> CommandResult {
        var words: [any CommandArgument] = ["-c", text, "sh"]
        if let namespace {
            try require(.root, .tool("unshare"))
            words = [namespace, "/bin/sh"] + words
        }
        return try Command(
            namespace == nil ? "/bin/sh" : "/usr/bin/unshare", arguments: words + arguments,
            environment: environment.merging([
                "RESVAL": "\(FilePath.built("resval-backup"))",
                "RESTIC": "restic -q -r \(repository)",
            ]) { $1 }
        ).run()
    }

    /// The command `resval-backup` that runs shell commands before and after each `restic backup`.
    func command(
        _ arguments: [any CommandArgument], beforeBackup before: String = ":",
        afterBackup after: String = ":"
    ) throws -> Command {
        try command(
            arguments,
            before: """
                if [ "$1" = backup ]; then
                    \(before)
                    "$REAL" "$@"; code=$?
                    \(after)
                    exit $code
                fi
                """)
    }

    /// Waits until no restic works on the repository, and notes that each lock there was seen for 31
    /// minutes, so that the next command that it keeps out removes it.
    func ageLocks() throws {
        let wait = """
            for _ in $(seq 200); do
                grep -qszxF "RESTIC_REPOSITORY=$1" /proc/[0-9]*/environ || break
                sleep 0.05
            done
            """
        try shell(wait, repository)
        var sights = LockSights()
        for time in [0, LockSights.deadAge] {
            _ = try sights.see(locks(), bootIdentifier: "earlier", bootTime: time)
        }
        let state = isConfigured ? self.state : base.appending("home/.local/state")
        let file = "locks-\(RepositoryLocation(bytes: repository.bytes).fingerprint)" as FileName
        let directory = state.appending("resval/backup")
        try tool("mkdir", "-p", directory)
        try tool("rm", "-f", directory.appending(file))
        try Tree { File(file, sights.contents) }.create(in: directory)
    }

    /// The identifiers of the locks in the repository.
    func locks() throws -> [String] {
        try tool("ls", repository.appending("locks")).split(separator: "\n").map(String.init)
    }

    /// A command that finds a shell script in place of a program.
    func with(_ program: FileName, _ script: String, _ command: Command) throws -> Command {
        let programs = base.appending("programs")
        try tool("mkdir", "-p", programs)
        try tool("rm", "-f", programs.appending(program))
        try Tree { File(program, "#!/bin/sh\n" + script).permissions(0o755) }.create(in: programs)
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return command.setting(["PATH": "\(programs):\(path)"])
    }

    /// Runs restic on the repository, which must succeed.
    @discardableResult
    func restic(_ arguments: any CommandArgument...) throws -> String {
        try restic(arguments: arguments)
    }

    /// Runs restic on the repository, which must succeed.
    @discardableResult
    func restic(arguments: [any CommandArgument]) throws -> String {
        let options: [any CommandArgument] = [
            "-q", "-r", repository, "--password-file", "\(base)/password",
        ]
        return try Command(
            #require(FilePath.tool("restic")), arguments: options + arguments,
            environment: environment
        ).runSuccessfully()
    }

    /// Gives the source an extended attribute whose name restic cannot store, so that snapshots of it
    /// are incomplete.
    func addUnstorableAttribute() throws {
        try shell(#"setfattr -n "$(printf 'user.\377')" -v 1 "$1""#, source)
    }

    /// Where an item of the source is after a restore to the target.
    func restored(_ path: FilePath) -> FilePath {
        target.pushing(FilePath(root: nil, path.components))
    }
}

/// The full identifiers of the snapshots that JSON lines are about, one for each line that names one.
func snapshotIdentifiers(in lines: String) -> [String] {
    lines.split(separator: "\n").compactMap { line in
        let parts = line.split(separator: #""snapshot":""#, maxSplits: 1)
        return parts.count == 2 ? String(parts[1].prefix { $0 != "\"" }) : nil
    }
}

/// Makes a repository and a source that holds a tree.
///
/// - Parameter user: who owns it all and runs the commands; needs root.
func backup(of tree: Tree, user: UInt32? = nil) throws -> BackupFixture {
    try require(.tool("restic"))
    if user != nil { try require(.root, .tool("setpriv")) }
    let base = try temporaryDirectory(isShared: true) {
        Directory("source")
        Directory("home")
        File("password", "\(repositoryPassword)\n").permissions(0o600)
    }
    let fixture = BackupFixture(base: base, user: user)
    try tree.create(in: fixture.source)
    try tool("cp", "-r", try emptyRepository(), fixture.repository)
    if let user {
        try tool("chown", "\(user):\(user)", base)
        try tool("chown", "-R", "\(user):\(user)", fixture.repository)
        for name in ["password", "home", "source"] {
            try tool("chown", "\(user):\(user)", base.appending(name))
        }
    }
    return fixture
}

/// Makes a repository and a source that holds a tree.
func backup(
    user: UInt32? = nil, @TreeBuilder of items: () -> [any TreeItem]
) throws -> BackupFixture { try backup(of: Tree(items), user: user) }

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
    func makeForeignSnapshot(of path: FilePath) throws {
        var words: [any CommandArgument] = ["backup", "--host", try tool("hostname")]
        for tag in try ownTags() where tag.hasPrefix("resval-s") { words += ["--tag", tag] }
        try restic(arguments: words + [path])
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
