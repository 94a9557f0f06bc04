import CLinux
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Where programs keep what must outlast them: `$XDG_STATE_HOME/resval`, by default
/// `~/.local/state/resval`.
public enum StateDirectory {
    /// The directory's path, whether it exists or not.
    ///
    /// - Throws: ``FileError`` `other` where no home is known.
    public static func path() throws(FileError) -> FilePath {
        guard let home = PolicyEnvironment.current().base.stateHome else {
            throw FileError(
                code: .other, message: "there is no directory for state",
                advice: "set HOME or XDG_STATE_HOME")
        }
        return home.path.appending("resval")
    }

    /// Makes the directory, for its owner only, where it is missing.
    ///
    /// - Returns: its path.
    public static func make() throws(FileError) -> FilePath {
        let path = try path()
        try makeDirectories(path)
        return path
    }
}

/// Makes a directory and those above it that are missing, for their owner only.
///
/// - Throws: ``FileError``, naming the directory that could not be made.
package func makeDirectories(_ path: FilePath) throws(FileError) {
    var reached = FilePath(root: path.root, [])
    for component in path.components {
        reached.append(component)
        do throws(Errno) {
            try makeDirectory(
                reached, in: FileDescriptor(rawValue: AT_FDCWD), permissions: 0o700)
        } catch .fileExists {
            continue
        } catch .readOnlyFileSystem where exists(reached) {
            continue
        } catch {
            throw .changingItem(error, reached)
        }
    }
}

private func exists(_ path: FilePath) -> Bool {
    do throws(Errno) {
        _ = try path.status()
        return true
    } catch {
        return false
    }
}
