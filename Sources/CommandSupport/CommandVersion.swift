/// The version of the command line tools.
public enum CommandVersion {
    /// The version number, as `--version` prints it.
    public static let text = "0.1.0"
}
