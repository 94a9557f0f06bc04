import SystemPackage

/// A setting for locations that was ignored, and why.
public struct LocationWarning: Sendable, Hashable {
    /// The reason why the setting was ignored.
    public enum Cause: String, Sendable, Hashable, CaseIterable {
        /// The path is not absolute.
        case relative
        /// The path is `/`.
        case filesystemRoot = "filesystem-root"
        /// The path is a home.
        case home
        /// A home is below the path.
        case holdsHome = "holds-home"
        /// The path is, contains or is inside a protected directory or one for data, state or
        /// configuration.
        case overlapsProtected = "overlaps-protected"
        /// The path is, contains or is inside a system directory, such as /etc or /usr.
        case systemDirectory = "system-directory"
        /// `$TMPDIR` is not inside /tmp or /var/tmp, and is not a named location.
        case outsideTemporary = "outside-temporary"
        /// `$XDG_CACHE_HOME` is not inside the home, and is not a named location.
        case outsideHome = "outside-home"
        /// Neither `$HOME` nor the password database provides a usable home.
        case noHome = "no-home"
        /// Another user can change where the path leads.
        case unsafePath = "unsafe-path"
        /// A file with settings for locations could not be read.
        case unreadable
    }

    /// The reason.
    public let cause: Cause
    /// The source of the setting: a variable such as `$TMPDIR`, a file's name, or
    /// `the named directory`.
    public let setting: String
    /// The path that was set; nil if there was none.
    public let path: FilePath?
    /// The home, the protected directory or the unsafe item that caused the warning; nil if there
    /// is none.
    public let obstacle: FilePath?

    /// Creates a warning.
    public init(
        _ cause: Cause, setting: String, path: FilePath? = nil, obstacle: FilePath? = nil
    ) {
        self.cause = cause
        self.setting = setting
        self.path = path
        self.obstacle = obstacle
    }

    /// The path that ``sentence`` is about: the one that was set, or the unsafe item on the path to
    /// it.
    public var subject: FilePath? { cause == .unsafePath ? obstacle : path }

    /// The warning in words, without ``path`` and ``obstacle``.
    public var sentence: String {
        switch cause {
        case .relative: "\(setting) is ignored, because it is not an absolute path"
        case .filesystemRoot: "\(setting) is ignored, because it is the filesystem root"
        case .home: "\(setting) is ignored as a location, because it is a home"
        case .holdsHome: "\(setting) is ignored as a location, because a home is below it"
        case .overlapsProtected:
            "\(setting) is ignored as a location, because it overlaps a protected directory"
        case .systemDirectory:
            "\(setting) is refused as a location, because it is, contains or is in a directory of "
                + "the system\(obstacle.map { ": \($0)" } ?? "")"
        case .outsideTemporary:
            "\(setting) is ignored as a location, because it is not inside /tmp or /var/tmp"
        case .outsideHome:
            "\(setting) is ignored as a location, because it is not inside the home"
        case .noHome: "no home is known, so there are no locations below it"
        case .unsafePath:
            "\(setting) is ignored as a location, because another user controls where it leads"
        case .unreadable: "\(setting) cannot be read, so its contents are not known"
        }
    }
}
