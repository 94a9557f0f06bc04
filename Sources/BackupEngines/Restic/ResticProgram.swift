import SystemCalls
import SystemPackage

/// The programs to start: restic, and the launcher that ties its lifetime to this process.
package struct ResticProgram: Sendable, Hashable {
    /// The path of restic.
    package let path: FilePath
    /// The path of util-linux's setpriv, which makes the kernel send SIGINT to restic when this
    /// process is killed; nil when it is missing, in which case restic continues until its next
    /// write to this process.
    ///
    /// In both cases its lock may stay, since restic dies from writing to a pipe without a reader.
    /// The next backup removes it.
    let launcher: FilePath?

    /// Finds restic in a search path.
    ///
    /// - Parameter searchPath: the value of `PATH`.
    /// - Throws: ``BackupError`` with the code `engineMissing`.
    package init(searchPath: [UInt8]) throws(BackupError) {
        guard let path = Self.find("restic", in: searchPath) else {
            throw BackupError(
                .engineMissing, "there is no program restic on PATH",
                advice: "install it: apt install restic, or https://restic.net")
        }
        self.path = path
        launcher = Self.findLauncher(in: searchPath)
    }

    /// Finds util-linux's setpriv in a search path; nil when it is missing.
    package static func findLauncher(in searchPath: [UInt8]) -> FilePath? {
        find("setpriv", in: searchPath).flatMap { isFullSetpriv($0) ? $0 : nil }
    }

    /// The program to start, and the arguments to insert before restic's own.
    var invocation: (program: FilePath, arguments: [[UInt8]]) {
        guard let launcher else { return (path, []) }
        let words = ["--pdeathsig", "INT", "--"]
        return (launcher, words.map { Array($0.utf8) } + [path.bytes])
    }

    private static func find(_ name: String, in searchPath: [UInt8]) -> FilePath? {
        searchPath.split(separator: UInt8(ascii: ":"))
            .map { FilePath(bytes: $0).appending(name) }
            .first { isExecutable($0) }
    }

    private static func isExecutable(_ path: FilePath) -> Bool {
        do throws(Errno) {
            guard try path.status().kind == .regularFile else { return false }
            return try path.isAccessible(for: .execute)
        } catch {
            // Not here: the search continues.
            return false
        }
    }

    /// Whether a setpriv is that of util-linux. Busybox has one too, a link to itself, which does
    /// not have this option.
    private static func isFullSetpriv(_ path: FilePath) -> Bool {
        do throws(Errno) {
            return try path.withoutFollowing.status().kind == .regularFile
        } catch {
            return false
        }
    }
}
