import Glibc
import SystemCalls
import SystemPackage

/// Makes a directory, which is removed when the test ends, whatever it then holds.
///
/// The directory lies in the `$TMPDIR` that the tests were started with, else in `/var/tmp`, which unlike `/tmp` is rarely a filesystem
/// without user attributes. Its path has no symbolic link in it.
///
/// - Parameter tree: what the directory holds at first.
/// - Parameter isShared: whether other users may enter it.
package func temporaryDirectory(
    containing tree: Tree = Tree {}, isShared: Bool = false
) throws -> FilePath {
    let root = try makeTemporaryDirectory(isShared: isShared)
    try afterwards { try removeTree(at: root) }
    try tree.create(in: root)
    return root
}

/// Calls `body` with a new directory and removes it afterwards, whatever it then holds.
package func withTemporaryDirectory<Result>(
    containing tree: Tree = Tree {}, isShared: Bool = false, _ body: (FilePath) throws -> Result
) throws -> Result {
    try cleaningUp { try body(temporaryDirectory(containing: tree, isShared: isShared)) }
}

/// Calls `body` with a new directory and removes it afterwards, whatever it then holds.
///
/// As the form that does not wait.
package func withTemporaryDirectory<Result>(
    containing tree: Tree = Tree {}, isShared: Bool = false,
    isolation: isolated (any Actor)? = #isolation, _ body: (FilePath) async throws -> Result
) async throws -> Result {
    let root = try makeTemporaryDirectory(isShared: isShared)
    let result: Result
    do {
        try tree.create(in: root)
        result = try await body(root)
    } catch {
        try removeTree(at: root)
        throw error
    }
    try removeTree(at: root)
    return result
}

/// Calls `body` with a file `f` in a new directory.
package func withFile<Result>(
    _ content: String = "", _ body: (FilePath) throws -> Result
) throws -> Result {
    try withTemporaryDirectory(containing: Tree { File("f", content) }) {
        try body($0.appending("f"))
    }
}

func makeTemporaryDirectory(isShared: Bool) throws -> FilePath {
    let parent = getenv("RESVAL_TEST_DIRECTORY").map { String(cString: $0) } ?? "/var/tmp"
    guard let real = realpath(parent, nil) else {
        throw FixtureError(call: "realpath", file: parent, errno: Errno(rawValue: errno))
    }
    defer { free(real) }
    var template = Array(
        FilePath(platformString: real).appending("resval-test-XXXXXX").string.utf8CString)
    guard mkdtemp(&template) != nil else {
        throw FixtureError(call: "mkdtemp", file: parent, errno: Errno(rawValue: errno))
    }
    if isShared { chmod(template, 0o755) }
    return FilePath(platformString: template)
}
