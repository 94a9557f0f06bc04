import SystemPackage
import Testing

/// Homes of users who put anything but honest files where root's programs look for files of theirs.
package struct HostileHomes: Sendable {
    /// The user who owns them all.
    package static let user: UInt32 = 1234

    private let passwordDatabase: FilePath

    /// Makes the homes in a directory that exists; needs root and `unshare`.
    ///
    /// - Parameters:
    ///   - root: root's own home.
    ///   - others: more homes of the user, which exist.
    package init(in directory: FilePath, root: FilePath, others: [FilePath] = []) throws {
        try require(.root, .tool("unshare"))
        let homes = Self.places.flatMap { place in Self.things.map { place($0) } }
        let tree = Tree {
            for (number, home) in homes.enumerated() {
                Directory("home\(number)") { home }.owned(by: Self.user)
            }
        }
        try tree.create(in: directory)
        let paths = homes.indices.map { directory.appending("home\($0)") } + others
        let lines = ["root:x:0:0::\(root):"] + paths.map { "u:x:\(Self.user):\(Self.user)::\($0):" }
        passwordDatabase = directory.appending("passwd")
        try Tree { File("passwd", lines.map { $0 + "\n" }.joined()) }.create(in: directory)
    }

    /// A command that finds these homes in `/etc/passwd`, and may take 4 GiB of address space and twenty
    /// seconds.
    package func meeting(_ command: Command) throws -> Command {
        guard let unshare = FilePath.tool("unshare") else {
            throw CommandFailure(command: "unshare", reason: "not installed")
        }
        let script = #"mount --bind "$0" /etc/passwd && ulimit -v 4194304 && exec "$@""#
        let words: [any CommandArgument] = [
            "--mount", "--propagation", "private", "sh", "-c", script, passwordDatabase,
            command.executable,
        ]
        var wrapped = command
        wrapped.executable = unshare
        wrapped.arguments = words.map(\.argumentBytes) + command.arguments
        wrapped.timeout = .seconds(20)
        return wrapped
    }

    private typealias Thing = @Sendable (FileName) -> any TreeItem

    private static let things: [Thing] = [
        { Fifo($0).owned(by: user) },
        { Socket($0).owned(by: user) },
        { SymbolicLink($0, to: "/dev/zero").owned(by: user) },
        { SymbolicLink($0, to: "/tmp").owned(by: user) },
        { Directory($0) {}.owned(by: user) },
        { File($0, "text").permissions(0).owned(by: user) },
        { SparseFile($0, hole: 1 << 30).owned(by: user) },
        { File($0, "XDG_MUSIC_DIR=\"/\"\n").owned(by: 4321) },
    ]

    /// Where things stand: in place of settings and of their directory, of a record of an evicted file,
    /// of the journal, and of what it lies in.
    private static let places: [@Sendable (Thing) -> any TreeItem] = [
        { thing in Directory(".config") { thing("user-dirs.dirs") }.owned(by: user) },
        { thing in thing(".config") },
        { thing in
            Directory(".local") {
                Directory("state") {
                    Directory("resval") {
                        Directory("evicted") { thing("0000000000000001-0000000000000001") }
                            .owned(by: user)
                    }.owned(by: user)
                }.owned(by: user)
            }.owned(by: user)
        },
        { thing in
            Directory(".local") {
                Directory("state") { Directory("resval") { thing("evicted") }.owned(by: user) }
                    .owned(by: user)
            }.owned(by: user)
        },
        { thing in thing(".local") },
    ]
}
