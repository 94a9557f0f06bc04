import Glibc
import SystemCalls
import SystemPackage

/// Makes a directory, which is removed when the test ends, whatever it then holds.
///
/// The directory lies in the `$TMPDIR` that the tests were started with, else in `/var/tmp`, which
/// unlike `/tmp` is rarely a filesystem without user attributes. Its path has no symbolic link in it.
///
/// - Parameter tree: what the directory holds at first.
/// - Parameter isShared: whether other users may enter it.
package func temporaryDirectory(
    containing tree: Tree = Tree {}, isShared: Bool = false
) throws -> FilePath {
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
    let root = FilePath(platformString: template)
    try afterwards { try removeTree(at: root) }
    try tree.create(in: root)
    return root
}

/// Makes a directory, which is removed when the test ends, whatever it then holds.
package func temporaryDirectory(
    isShared: Bool = false, @TreeBuilder containing items: () -> [any TreeItem]
) throws -> FilePath {
    try temporaryDirectory(containing: Tree(items), isShared: isShared)
}

/// Makes a file `f` in a directory, which are removed when the test ends.
package func temporaryFile(_ content: String = "") throws -> FilePath {
    try temporaryDirectory(containing: Tree { File("f", content) }).appending("f")
}
