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
        let (descriptor, path): (CInt, StaticString) = (rawValue, "")
        try path.utf8Start.withMemoryRebound(to: CChar.self, capacity: 1) { path throws(Errno) in
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

/// The `(dirfd, path, flags)` arguments of an `…at` system call.
///
/// Valid only while the closure it is passed to runs. Outside this package it is opaque: a
/// ``FileLocation`` passes on the one of the location that it consists of.
public struct CallTarget: FileLocation {
    /// A directory descriptor, or `AT_FDCWD`.
    @usableFromInline package let directory: CInt
    /// A NUL-terminated path relative to `directory`; empty if `flags` contains `AT_EMPTY_PATH`.
    @usableFromInline package let path: UnsafePointer<CChar>
    /// `AT_SYMLINK_NOFOLLOW`, `AT_EMPTY_PATH` or neither.
    @usableFromInline package let flags: CInt

    @inlinable @inline(__always)
    package init(directory: CInt, path: UnsafePointer<CChar>, flags: CInt) {
        self.directory = directory
        self.path = path
        self.flags = flags
    }

    /// Creates a target for a path relative to an open directory or, with `AT_FDCWD`, the working
    /// directory.
    @inlinable @inline(__always)
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

/// The longest path, including its NUL, that one call accepts (`PATH_MAX` of linux/limits.h).
package let longestPath = 4096

extension FilePath {
    /// Calls `body` with the path, NUL-terminated: `withPlatformString` with a typed error.
    @inlinable
    package func withPointer<Result>(
        _ body: (UnsafePointer<CChar>) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        try withPlatformString { path in
            Swift.Result { () throws(Errno) in try body(path) }
        }.get()
    }

    func lookUp(
        flags: CInt, _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        guard length >= longestPath else {
            return try withPointer { path throws(Errno) in
                try body(CallTarget(directory: AT_FDCWD, path: path, flags: flags))
            }
        }
        // Removing components from a FilePath takes time for each; working on bytes does not.
        var path = withPlatformString { Array(UnsafeBufferPointer(start: $0, count: length + 1)) }
        try path.withUnsafeMutableBufferPointer { path throws(Errno) in
            try withLongPath(path, flags: flags, body)
        }
    }
}

/// Opens the leading directories of the path, as many at a time as one call accepts, and calls
/// `body` with the rest of the path.
private func withLongPath(
    _ path: UnsafeMutableBufferPointer<CChar>, flags: CInt,
    _ body: (CallTarget) throws(Errno) -> Void
) throws(Errno) {
    guard var rest = path.baseAddress else { throw .invalidArgument }
    var restCount = path.count
    var directory = FileDescriptor.workingDirectory
    defer { closeStep(directory) }
    while restCount > longestPath {
        let head = UnsafeMutableBufferPointer(start: rest, count: longestPath)
        guard let end = head.lastIndex(of: slash), end > 0 else { throw .fileNameTooLong }
        head[end] = 0
        let next = try openFile(in: directory.rawValue, rest, flags: [.reference, .directory])
        closeStep(directory)
        directory = next
        rest += end + 1
        restCount -= end + 1
    }
    try body(CallTarget(directory: directory.rawValue, path: rest, flags: flags))
}

private let slash = CChar(UInt8(ascii: "/"))

private func closeStep(_ directory: FileDescriptor) {
    if directory.rawValue != AT_FDCWD { closeIgnoringErrors(directory) }
}
