import SystemCalls
import SystemPackage

/// Where tmpfiles.d(5) says what is never cleaned.
struct TemporaryFilesSettings: Sendable {
    /// The directories of the system's files.
    static let systemDirectories: [FilePath] = [
        "/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/local/lib/tmpfiles.d", "/usr/lib/tmpfiles.d",
        "/etc/user-tmpfiles.d", "/usr/share/user-tmpfiles.d",
    ]

    /// Reads the files `*.conf` of directories.
    ///
    /// All of them count, also where systemd lets one stand for another of the same name: more is
    /// kept than need be.
    ///
    /// - Parameter unreadable: called for what is there and cannot be read.
    static func keptPaths(
        in directories: [FilePath], unreadable: (FileError) -> Void
    ) -> KeptPaths {
        var patterns: [TemporaryFilesPattern] = []
        for directory in directories {
            for path in files(in: directory, unreadable) {
                do throws(Errno) {
                    patterns += TemporaryFilesPattern.patterns(
                        in: try contentsOfFile(path, limit: settingsLimit))
                } catch .noSuchFileOrDirectory {
                    continue
                } catch {
                    unreadable(.opening(error, path))
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
