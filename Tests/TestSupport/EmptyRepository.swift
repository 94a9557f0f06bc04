import Glibc
import SystemCalls
import SystemPackage
import Testing

/// The password of ``emptyRepository()``.
package let repositoryPassword = "correct horse"

/// An empty repository of restic, for tests to copy. It is removed when the process ends.
///
/// Its password takes no time to check, where restic's own choice costs half a second of every
/// command.
package func emptyRepository() throws -> FilePath {
    try made.withLock { made in
        if let path = made { return path }
        try require(.tool("restic"), .tool("python3"))
        let base = baseDirectory
        try tool("rm", "-rf", base)
        try tool("mkdir", base)
        atexit { removeEmptyRepository() }
        try Tree { File("password", "\(repositoryPassword)\n") }.create(in: base)
        let path = base.appending("repository")
        let password = base.appending("password")
        try tool("restic", "--no-cache", "init", "-q", "-r", path, "--password-file", password)
        let script = packageRoot.appending("Tests/Helpers/cheapen-key/cheapen-key.py")
        try Command("/usr/bin/python3", arguments: [script, path, password]).runSuccessfully()
        made = path
        return path
    }
}

/// The directory of the package's sources.
package let packageRoot = FilePath(#filePath).removingLastComponent().removingLastComponent()
    .removingLastComponent()

private let made = Monitor<FilePath?>(nil)
private let baseDirectory = FilePath("/var/tmp/resval-repository-\(getpid())")

private func removeEmptyRepository() {
    do {
        try tool("rm", "-rf", baseDirectory)
    } catch {
        print("cannot remove the empty repository: \(error)")
    }
}
