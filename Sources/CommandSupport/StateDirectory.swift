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
        return home.path.appending(stateDirectoryName)
    }

    /// Makes the directory, for its owner only, where it is missing.
    ///
    /// - Returns: its path.
    /// - Throws: ``FileError``, also when it is not this user's alone.
    public static func make() throws(FileError) -> FilePath {
        let path = try path()
        try makeStateDirectory(path)
        return path
    }
}
