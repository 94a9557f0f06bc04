import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// Runs samples of Apple's storage guides, each as a process in a home of its own.
struct StorageGuide {
    let home: FilePath
    private let temporary: FilePath

    /// Makes the directories that exist on a device.
    ///
    /// - Parameter temporary: the directory for temporary files; nil for one in the home. The thread
    ///   sanitizer maps a file of its own there, which a full filesystem has no room for.
    init(home: FilePath, temporary: FilePath? = nil) throws {
        self.home = home
        self.temporary = temporary ?? home.appending("tmp")
        try Tree {
            Directory("Documents")
            Directory(".cache")
            Directory(".local") { Directory("share") }
            Directory("tmp")
        }.create(in: home)
    }

    /// Runs a sample that must succeed.
    ///
    /// - Returns: what it printed, line by line.
    @discardableResult
    func run(_ sample: String, _ arguments: any CommandArgument...) throws -> [Substring] {
        try Self.lines(command(sample, arguments).runSuccessfully())
    }

    /// Runs a sample that must fail.
    ///
    /// - Returns: what it printed, line by line.
    func fail(_ sample: String, _ arguments: any CommandArgument...) throws -> [Substring] {
        let result = try command(sample, arguments).run()
        try #require(result.exitCode == 1, "\(result)")
        return Self.lines(result.text)
    }

    /// Runs a sample that must succeed while the files of a directory are served over HTTP; `{}` in its
    /// arguments is the server's address.
    @discardableResult
    func run(
        serving directory: FilePath, _ sample: String, _ arguments: any CommandArgument...
    ) throws -> [Substring] {
        try require(.tool("python3"))
        var command = command(sample, arguments)
        let server = packageRoot.appending("Tests/Helpers/serve-while/serve-while.py")
        command.arguments =
            [server.bytes, directory.bytes, command.executable.bytes] + command.arguments
        command.executable = FilePath.tool("python3") ?? "python3"
        return try Self.lines(command.runSuccessfully())
    }

    private func command(_ sample: String, _ arguments: [any CommandArgument]) -> Command {
        var command = Command(.built("storage-guide"), arguments: [sample] + arguments)
        // Foundation takes the home from the password database unless CFFIXED_USER_HOME is set.
        command.environment = [
            "HOME": home.string, "CFFIXED_USER_HOME": home.string, "TMPDIR": temporary.string,
        ]
        return command
    }

    private static func lines(_ text: String) -> [Substring] { text.split(separator: "\n") }
}

extension FilePath {
    /// The file's content, as text.
    var text: String {
        get throws { String(decoding: try contentsOfFile(self), as: UTF8.self) }
    }

    /// The total and the available space of the filesystem, in bytes, as stat(1) prints it.
    func space() throws -> (total: Int64, available: Int64) {
        let fields = try TestSupport.tool("stat", "-f", "-c", "%b %a %S", self).split(
            separator: " "
        )
        .compactMap { Int64($0) }
        return (fields[0] * fields[2], fields[1] * fields[2])
    }

    /// Leaves ordinary users no space on the filesystem of this directory.
    func fillFilesystem() throws {
        let file = appending("fill")
        try TestSupport.tool(
            "bash", "-c", "head --bytes 1T /dev/zero > '\(file)' 2>/dev/null || true")
        try TestSupport.tool("sync", "-f", self)
    }
}

/// Makes a home in a temporary directory.
func guide(
    @TreeBuilder containing items: () -> [any TreeItem] = { [] }
) throws -> (StorageGuide, home: FilePath) {
    let home = try temporaryDirectory(containing: Tree(items))
    return (try StorageGuide(home: home), home)
}
