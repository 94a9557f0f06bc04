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
}
