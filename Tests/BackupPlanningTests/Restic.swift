import BackupPlanning
import SystemPackage
import TestSupport
import Testing

/// A restic repository of its own in a directory.
struct Restic {
    private let base: FilePath
    private let program: FilePath

    /// Makes the repository.
    init(in base: FilePath) throws {
        self.base = base
        program = try #require(FilePath.tool("restic"))
        try tool("cp", "-r", try emptyRepository(), base.appending("repository"))
    }

    /// Backs up as a selection says, and gives the paths that a restore brings back: of the source,
    /// from it on down, sorted.
    func storedPaths(
        _ selection: ResticSelection, of source: FilePath
    ) throws -> Set<[UInt8]> {
        var words: [any CommandArgument] = ["backup"]
        switch selection.targets {
        case .sources: words.append(source)
        case .list(let list): words += ["--files-from-raw", try file("list", list)]
        }
        words += ["--exclude-file", try file("exclude", selection.excludeFile)]
        try command(words).runSuccessfully()
        let target = base.appending("restored")
        try command(["restore", "latest", "--target", target]).runSuccessfully()
        let paths = try pathsBelow(target.appending(source.components))
        try tool("rm", "-rf", target)
        return paths
    }

    private func file(_ name: String, _ contents: [UInt8]) throws -> FilePath {
        let path = base.appending(name)
        try tool("rm", "-f", path)
        try Tree { File(FileName(Array(name.utf8)), contents) }.create(in: base)
        return path
    }

    private func command(_ words: any CommandArgument...) -> Command { command(words) }

    private func command(_ words: [any CommandArgument]) -> Command {
        let options: [any CommandArgument] = [
            "--no-cache", "--quiet", "--repo", base.appending("repository"),
        ]
        var command = Command(program, arguments: options + words)
        command.environment = [
            "RESTIC_PASSWORD": repositoryPassword, "RESTIC_REPOSITORY": nil,
            "RESTIC_PASSWORD_FILE": nil, "RESTIC_PASSWORD_COMMAND": nil,
        ]
        return command
    }
}

/// The paths in a directory, from it on down, as find(1) lists them.
func pathsBelow(_ root: FilePath) throws -> Set<[UInt8]> {
    let find = try #require(FilePath.tool("find"))
    var command = Command(find, ".", "-mindepth", "1", "-print0")
    command.workingDirectory = root
    let result = try command.run()
    try #require(result.exitCode == 0, "\(result)")
    return Set(result.records.map { Array($0.dropFirst(2)) })
}
