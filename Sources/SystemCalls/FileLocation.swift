import CLinux
import SystemPackage

/// A way for system calls to reach one file: a path, a descriptor, or a name in an open directory.
///
/// A path is resolved again by every call, so two calls can reach two files. A descriptor always
/// refers to the same file. A name in an open directory is not affected by a renamed or replaced
/// ancestor.
public protocol FileLocation: ~Copyable {
    /// The file's path for messages; nil if none is known.
    var pathForMessages: FilePath? { get }

    /// Calls `body` with the arguments by which a system call reaches the file.
    ///
    /// - Throws: the errno of a lookup needed first, or what `body` throws.
    func lookUp(_ body: (CallTarget) throws(Errno) -> Void) throws(Errno)
}

extension FileLocation where Self: ~Copyable {
    /// Calls `body` with the arguments by which a system call reaches the file, and returns its
    /// result.
    ///
    /// - Throws: as ``lookUp(_:)``.
    @inlinable
    package func withCallTarget<Result>(
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

    /// Resolves to the file at this path, following a symbolic link; paths beyond `PATH_MAX` work.
    public func lookUp(
        _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        try lookUp(flags: 0, body)
    }

    /// The same path, without following a symbolic link in its last component.
    public var withoutFollowing: SymbolicLinkPath { SymbolicLinkPath(path: self) }
}

extension FileDescriptor: FileLocation {
    /// Always nil: a descriptor has no path of its own.
    public var pathForMessages: FilePath? { nil }

    /// Resolves to the open file.
    public func lookUp(
        _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        let descriptor = rawValue
        return try withEmptyPath { path throws(Errno) in
            try body(CallTarget(directory: descriptor, path: path, flags: AT_EMPTY_PATH))
        }
    }
}

/// An open file with the path that its errors name.
public struct NamedDescriptor: FileLocation, Sendable {
    /// The open file; it must stay open while the location is used.
    public let descriptor: FileDescriptor
    /// The path for messages; nil if it is not known.
    public let pathForMessages: FilePath?

    /// Resolves to the open file.
    public func lookUp(
        _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        try descriptor.lookUp(body)
    }
}

extension FileDescriptor {
    /// The open file, with the path that its errors name.
    package func named(_ path: FilePath?) -> NamedDescriptor {
        NamedDescriptor(descriptor: self, pathForMessages: path)
    }
}

/// A path whose last component is not followed if it is a symbolic link.
public struct SymbolicLinkPath: FileLocation, Sendable, Hashable {
    /// The path.
    public let path: FilePath

    /// The path.
    public var pathForMessages: FilePath? { path }

    /// Resolves to the item at the path, even if it is a symbolic link.
    public func lookUp(
        _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        try path.lookUp(flags: AT_SYMLINK_NOFOLLOW, body)
    }
}

/// A name in an open directory; if it is a symbolic link, it is never followed.
public struct DirectoryEntryLocation: FileLocation, Sendable {
    /// The open directory; it must stay open while the location is used.
    public let directory: FileDescriptor
    /// A name without a slash.
    public let name: FilePath
    /// The whole path for messages; nil if it is not known.
    public let pathForMessages: FilePath?

    /// Creates a location from a directory and the name of an entry in it.
    public init(directory: FileDescriptor, name: FilePath, pathForMessages: FilePath? = nil) {
        self.directory = directory
        self.name = name
        self.pathForMessages = pathForMessages
    }

    /// Resolves to the entry.
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
