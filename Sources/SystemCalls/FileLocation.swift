import CLinux
import SystemPackage

/// Something that leads system calls to one file: a path, a descriptor, or a name in an open
/// directory.
///
/// A path is looked up again by every call, so two calls can meet two files. A descriptor is always
/// the same file. A name in an open directory cannot be led astray by a renamed or replaced ancestor.
public protocol FileLocation: ~Copyable {
    /// The file's path as messages should show it; nil where none is known.
    var pathForMessages: FilePath? { get }

    /// Calls `body` with the arguments that lead a system call to the file.
    ///
    /// - Throws: the errno of a lookup that had to happen first, or what `body` throws.
    func lookUp(_ body: (CallTarget) throws(Errno) -> Void) throws(Errno)
}

extension FileLocation where Self: ~Copyable {
    /// Calls `body` with the arguments that lead a system call to the file, and returns its result.
    ///
    /// - Throws: as ``lookUp(_:)``.
    @inlinable
    public func withCallTarget<Result>(
        _ body: (CallTarget) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        var result: Result?
        try lookUp { target throws(Errno) in result = try body(target) }
        guard let result else { throw .invalidArgument }
        return result
    }
}

extension FilePath: FileLocation {
    /// The path itself.
    public var pathForMessages: FilePath? { self }

    /// Leads to the file at this path, following a symbolic link; a path beyond `PATH_MAX` works.
    public func lookUp(
        _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        try lookUp(flags: 0, body)
    }

    /// This path, with a symbolic link at its end taken as itself.
    public var withoutFollowing: SymbolicLinkPath { SymbolicLinkPath(path: self) }
}

extension FileDescriptor: FileLocation {
    /// nil: a descriptor has no path of its own.
    public var pathForMessages: FilePath? { nil }

    /// Leads to the open file.
    public func lookUp(
        _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        let descriptor = rawValue
        return try withEmptyPath { path throws(Errno) in
            try body(CallTarget(directory: descriptor, path: path, flags: AT_EMPTY_PATH))
        }
    }
}

/// A path whose last component is not followed when it is a symbolic link.
public struct SymbolicLinkPath: FileLocation, Sendable, Hashable {
    /// The path.
    public let path: FilePath

    /// The path.
    public var pathForMessages: FilePath? { path }

    /// Leads to what stands at the path, also when that is a symbolic link.
    public func lookUp(
        _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        try path.lookUp(flags: AT_SYMLINK_NOFOLLOW, body)
    }
}

/// A name in an open directory; a symbolic link there is never followed.
public struct DirectoryEntryLocation: FileLocation, Sendable {
    /// The open directory; it must stay open while the location is used.
    public let directory: FileDescriptor
    /// A name without a slash.
    public let name: FilePath
    /// The whole path for messages; nil where it is not known.
    public let pathForMessages: FilePath?

    /// Creates a location from a directory and the name of an entry in it.
    public init(directory: FileDescriptor, name: FilePath, pathForMessages: FilePath? = nil) {
        self.directory = directory
        self.name = name
        self.pathForMessages = pathForMessages
    }

    /// Leads to the entry.
    public func lookUp(
        _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        let directory = directory.rawValue
        return try name.withPointer { name throws(Errno) in
            try body(CallTarget(directory: directory, path: name, flags: AT_SYMLINK_NOFOLLOW))
        }
    }
}

private let emptyPath: StaticString = ""

private func withEmptyPath(
    _ body: (UnsafePointer<CChar>) throws(Errno) -> Void
) throws(Errno) {
    try emptyPath.utf8Start.withMemoryRebound(to: CChar.self, capacity: 1, body)
}
