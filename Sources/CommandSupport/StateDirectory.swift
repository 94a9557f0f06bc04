import EffectiveValues
import SystemCalls
import SystemPackage

/// The directory for data that programs keep between runs: `$XDG_STATE_HOME/resval`, by default
/// `~/.local/state/resval`.
package enum StateDirectory {
    /// Returns the directory's path, whether it exists or not.
    ///
    /// - Throws: ``FileError`` `other` when the home is unknown.
    package static func path() throws(FileError) -> FilePath {
        guard let home = stateHome() else {
            throw FileError(
                code: .other, message: "no directory for state is known",
                advice: "set HOME or XDG_STATE_HOME")
        }
        return home.appending(stateDirectoryName)
    }

    /// Creates the directory, accessible to its owner only, if it does not exist.
    ///
    /// - Throws: ``FileError``, also when it belongs to another user or other users can write to
    ///   it.
    package static func make() throws(FileError) -> FilePath {
        let path = try path()
        try makeStateDirectory(path)
        return path
    }
}
