/// The version of the command line tools.
package enum CommandVersion {
    /// The version number, as `--version` prints it.
    package static let text = "0.1.0"
}
