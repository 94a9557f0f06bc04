import EffectiveValues
import StorageManagement
import SystemCalls
import SystemPackage
import TestSupport

let block = String(repeating: "x", count: 100_000)

/// Makes a trimmer of `~/.cache/app`, of any age, and that directory.
func cache(_ tree: Tree, on kind: FilesystemKind = .ext4) throws -> (CacheTrimmer, FilePath) {
    let root = try filesystem(kind) { Directory("home/.cache/app") { tree } }.root
    let app = root.appending("home/.cache/app")
    return (try trimmer(of: app, in: root.appending("home")), app)
}

/// Returns a trimmer of items of any age.
func trimmer(of directory: FilePath, in home: FilePath) throws -> CacheTrimmer {
    let environment = PolicyEnvironment(
        environment: ["HOME": home], passwordDatabase: "/dev/null", user: effectiveUser())
    var trimmer = try CacheTrimmer(directory, in: environment)
    trimmer.minimumAge = 0
    return trimmer
}

/// The paths below a directory, sorted.
func names(in directory: FilePath) throws -> [String] {
    try tool("find", directory, "-mindepth", "1", "-printf", "%P\\n").split(separator: "\n")
        .map(String.init).sorted()
}
