import SystemPackage
import TestSupport
import Testing

/// A directory of archives, and a directory to back up to it.
struct ArchiveFixture {
    /// The directory that holds everything.
    let base: FilePath
    /// The user who runs the commands; nil for the one who runs the tests.
    let user: UInt32?

    /// The directory to back up.
    var source: FilePath { base.appending("source") }
    /// The repository.
    var repository: FilePath { base.appending("repository") }
    /// A directory that does not exist, for a restore.
    var target: FilePath { base.appending("target") }

    /// The command `resval-backup` with these arguments.
    func command(_ arguments: [any CommandArgument]) -> Command {
        var command = Command(.built("resval-backup"), arguments: arguments)
        command.environment = [
            "RESVAL_BACKUP_REPOSITORY": "tar:\(repository)", "HOME": "\(base)/home",
        ]
        command.user = user
        return command
    }

    /// Runs `resval-backup`.
    func run(_ arguments: any CommandArgument...) throws -> CommandResult {
        try command(arguments).run()
    }

    /// Runs `resval-backup`, which must succeed.
    @discardableResult
    func runSuccessfully(_ arguments: any CommandArgument...) throws -> String {
        try command(arguments).runSuccessfully()
    }

    /// Where an item of the source is below a directory it was restored to.
    func restored(_ path: FilePath, in target: FilePath? = nil) -> FilePath {
        (target ?? self.target).pushing(FilePath(root: nil, path.components))
    }

    /// The names of the repository's files, sorted.
    func files() throws -> [String] {
        try tool("ls", "-A", repository).split(separator: "\n").map(String.init).sorted()
    }

    /// The archive of the only snapshot.
    func archive() throws -> FilePath {
        let names = try files().filter { $0.hasSuffix(".tar.zst") }
        try #require(names.count == 1)
        return repository.appending(names[0])
    }

    /// What differs between the source and what was restored from it.
    func differences(in target: FilePath? = nil) throws -> [String] {
        try TreeListing(of: restored(source, in: target))
            .differences(from: TreeListing(of: source))
    }
}

/// Calls `body` with a repository of archives and a source that holds a tree.
///
/// - Parameter user: who owns it all and runs the commands; needs root.
func withArchives<Result>(
    of tree: Tree, user: UInt32? = nil, _ body: (ArchiveFixture) throws -> Result
) throws -> Result {
    if user != nil { try require(.root, .tool("setpriv")) }
    let layout = Tree {
        Directory("source")
        Directory("home")
    }
    return try withTemporaryDirectory(containing: layout, isShared: true) { base in
        let fixture = ArchiveFixture(base: base, user: user)
        try tree.create(in: fixture.source)
        if let user {
            for path in [base, base.appending("home"), fixture.source] {
                try tool("chown", "\(user):\(user)", path)
            }
        }
        try fixture.runSuccessfully("init")
        return try body(fixture)
    }
}
