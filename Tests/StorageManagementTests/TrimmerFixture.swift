import EffectiveValues
import StorageManagement
import SystemCalls
import SystemPackage
import TestSupport

let block = String(repeating: "x", count: 100_000)

/// Calls `body` with a trimmer of `~/.cache/app`, of any age, and with that directory.
func withCache(
    _ tree: Tree, on kind: FilesystemKind = .ext4,
    _ body: (CacheTrimmer, FilePath) throws -> Void
) throws {
    try withFilesystem(kind) { filesystem in
        let home = filesystem.root.appending("home")
        try Tree { Directory("home") { Directory(".cache") { Directory("app") {} } } }
            .create(in: filesystem.root)
        let app = home.appending(".cache/app")
        try tree.create(in: app)
        try body(trimmer(of: app, in: home), app)
    }
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
