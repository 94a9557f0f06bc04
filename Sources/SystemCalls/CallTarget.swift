import CLinux
import SystemPackage

/// What a system call of the `…at` family is told: a directory, a path from there, and flags.
///
/// Valid only while the closure it was handed to runs.
public struct CallTarget: FileLocation {
    /// A directory descriptor, or `AT_FDCWD`.
    public let directory: CInt
    /// A NUL-ended path from `directory`; empty together with `AT_EMPTY_PATH`.
    public let path: UnsafePointer<CChar>
    /// `AT_SYMLINK_NOFOLLOW`, `AT_EMPTY_PATH` or neither.
    public let flags: CInt

    /// Creates a target from the three arguments the `…at` calls share.
    @inline(__always)
    public init(directory: CInt, path: UnsafePointer<CChar>, flags: CInt) {
        self.directory = directory
        self.path = path
        self.flags = flags
    }

    /// Creates a target of a path, from an open directory or, as `AT_FDCWD`, the working directory.
    @inline(__always)
    public init(directory: CInt, path: UnsafePointer<CChar>, followsSymbolicLink: Bool) {
        self.init(
            directory: directory, path: path,
            flags: followsSymbolicLink ? 0 : AT_SYMLINK_NOFOLLOW)
    }

    /// nil: a target is known by what the calls are told only.
    public var pathForMessages: FilePath? { nil }

    /// Leads to where the target leads.
    @inlinable
    public func lookUp(
        _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        try body(self)
    }

    @inline(__always)
    var isDescriptor: Bool { flags & AT_EMPTY_PATH != 0 }

    @inline(__always)
    var isRelativeToWorkingDirectory: Bool { directory == AT_FDCWD }

    @inline(__always)
    var followsSymbolicLink: Bool { flags & AT_SYMLINK_NOFOLLOW == 0 }
}
