import SystemCalls
import SystemPackage

/// The tmpfiles.d(5) files that exclude paths from cleaning.
struct TemporaryFilesSettings: Sendable {
    /// The directories of the system's tmpfiles.d files.
    static let systemDirectories: [FilePath] = [
        "/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/local/lib/tmpfiles.d", "/usr/lib/tmpfiles.d",
        "/etc/user-tmpfiles.d", "/usr/share/user-tmpfiles.d",
    ]

    /// Reads the `*.conf` files of directories.
    ///
    /// All files count, including those that systemd overrides by another of the same name, so that
    /// more is kept than necessary.
    ///
    /// - Parameter unreadable: called for each file or directory that exists but cannot be read.
    static func keptPaths(
        in directories: [FilePath], unreadable: (FileError) -> Void
    ) -> KeptPaths {
        var patterns: [TemporaryFilesPattern] = []
        for directory in directories {
            for path in files(in: directory, unreadable) {
                do throws(FileError) {
                    patterns += TemporaryFilesPattern.patterns(
                        in: try contentsOfFile(path, limit: settingsLimit))
                } catch {
                    if error.code != .noSuchFile { unreadable(error) }
                }
            }
        }
        return KeptPaths(patterns)
    }

    private static func files(
        in directory: FilePath, _ unreadable: (FileError) -> Void
    ) -> [FilePath] {
        var paths: [FilePath] = []
        do throws(Errno) {
            try forEachName(in: directory) { name in
                if name.hasSuffix(".conf") {
                    paths.append(directory.appending(FilePath(bytes: name).components))
                }
                return true
            }
        } catch .noSuchFileOrDirectory {
            return []
        } catch {
            unreadable(.readingDirectory(error, directory))
        }
        return paths
    }
}
