import CLinux
import SystemPackage

/// The `(dirfd, path, flags)` arguments of an `…at` system call.
///
/// Valid only while the closure it is passed to runs. Outside this package it is opaque: a
/// ``FileLocation`` passes on the one of the location that it consists of.
public struct CallTarget: FileLocation {
    /// A directory descriptor, or `AT_FDCWD`.
    package let directory: CInt
    /// A NUL-terminated path relative to `directory`; empty if `flags` contains `AT_EMPTY_PATH`.
    package let path: UnsafePointer<CChar>
    /// `AT_SYMLINK_NOFOLLOW`, `AT_EMPTY_PATH` or neither.
    package let flags: CInt

    /// Creates a target from the three arguments that the `…at` calls share.
    @inline(__always)
    package init(directory: CInt, path: UnsafePointer<CChar>, flags: CInt) {
        self.directory = directory
        self.path = path
        self.flags = flags
    }

    /// Creates a target for a path relative to an open directory or, with `AT_FDCWD`, the working
    /// directory.
    @inline(__always)
    package init(directory: CInt, path: UnsafePointer<CChar>, followsSymbolicLink: Bool) {
        self.init(
            directory: directory, path: path,
            flags: followsSymbolicLink ? 0 : AT_SYMLINK_NOFOLLOW)
    }

    /// Always nil: a target has only the arguments of the calls.
    public var pathForMessages: FilePath? { nil }

    /// Calls `body` with the target itself.
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
