import CLinux
import SystemPackage

/// Opens a file: `openat(2)`, always with `O_CLOEXEC`.
///
/// - Parameter directory: the directory a relative path starts from, or `AT_FDCWD`.
package func openFile(
    in directory: FileDescriptor, _ path: FilePath, flags: FileDescriptor.OpenOptions,
    permissions: mode_t = 0
) throws(Errno) -> FileDescriptor {
    try path.withPointer { path throws(Errno) in
        try openFile(in: directory.rawValue, path, flags: flags, permissions: permissions)
    }
}

/// Opens a file by a NUL-terminated path: `openat(2)`, always with `O_CLOEXEC`.
package func openFile(
    in directory: CInt, _ path: UnsafePointer<CChar>, flags: FileDescriptor.OpenOptions,
    permissions: mode_t = 0
) throws(Errno) -> FileDescriptor {
    let descriptor = try perform(.openat) {
        linux_openat(directory, path, flags.union(.closeOnExec).rawValue, permissions)
    }
    return FileDescriptor(rawValue: CInt(descriptor))
}

/// Opens the file at a location: `openat(2)`, through `/proc/self/fd` for a descriptor.
package func openFile(
    _ location: borrowing some FileLocation & ~Copyable, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    try location.withCallTarget { target throws(Errno) in
        if target.isDescriptor {
            // The path is a magic link of /proc, which leads only to the open file.
            return try openFile(
                in: .workingDirectory, processPath(of: target.directory),
                flags: flags.subtracting(.noFollow))
        }
        return try openFile(
            in: target.directory, target.path,
            flags: target.followsSymbolicLink ? flags : flags.union(.noFollow))
    }
}

/// Opens a file as a reference for other calls (`O_PATH`); needs no permission on the file itself.
package func openReference(
    to location: borrowing some FileLocation & ~Copyable
) throws(Errno) -> FileDescriptor {
    try openFile(location, flags: .reference)
}

/// Opens a file as a reference whose attributes can be read and changed.
///
/// The kernel allows that through `/proc` only. Where it is not mounted, a regular file or a
/// directory is opened for reading instead, which needs the permission.
package func openAttributeReference(
    to location: borrowing some FileLocation & ~Copyable
) throws(Errno) -> OwnedDescriptor {
    let reference = OwnedDescriptor(try openReference(to: location))
    if hasProcessDirectory { return reference }
    let kind = try reference.descriptor.status().kind
    guard kind == .regularFile || kind == .directory,
        let file = try? openFile(location, flags: [.readOnly, .nonBlocking, .noTerminal])
    else { return reference }
    return OwnedDescriptor(file)
}

extension FileLocation where Self: ~Copyable {
    /// The descriptor of a location that is an open file; nil for any other.
    package var openDescriptor: FileDescriptor? {
        let opened = try? withCallTarget { target throws(Errno) in
            target.isDescriptor ? FileDescriptor(rawValue: target.directory) : nil
        }
        return opened ?? nil
    }
}

private let hasProcessDirectory = (try? FilePath("/proc/self/fd").status()) != nil

/// Opens a file for reading, without waiting for the other end of a FIFO.
package func openForReading(_ path: FilePath) throws(Errno) -> FileDescriptor {
    try openFile(path, flags: [.readOnly, .nonBlocking, .noTerminal])
}

/// Opens a directory as a reference for calls on its entries: `openat(2)` with `O_PATH`.
///
/// A symbolic link at the end of the path is followed.
package func openDirectoryReference(_ path: FilePath) throws(Errno) -> FileDescriptor {
    try openFile(path, flags: [.reference, .directory])
}

/// Opens a file in an open directory for reading, without waiting for the other end of a FIFO.
package func openForReading(
    _ name: FilePath, in directory: FileDescriptor
) throws(Errno) -> FileDescriptor {
    try openFile(in: directory, name, flags: [.readOnly, .noFollow, .nonBlocking, .noTerminal])
}

/// Opens an open file, `O_PATH` included, again with other flags: `openat(2)` through `/proc`.
package func reopenFile(
    _ descriptor: FileDescriptor, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    try openFile(
        in: .workingDirectory, processPath(of: descriptor.rawValue), flags: flags)
}

/// Closes a descriptor: `close(2)`.
package func closeFile(_ descriptor: FileDescriptor) throws(Errno) {
    _ = try perform(.close) { linux_close(descriptor.rawValue) }
}

/// Closes a descriptor and ignores errors: `close(2)`. For descriptors that were only read from, or
/// whose writes are synchronized or discarded: the error then does not matter, and the descriptor
/// is closed in any case.
package func closeIgnoringErrors(_ descriptor: FileDescriptor) {
    try? closeFile(descriptor)
}

/// Returns the `/proc` path by which this process reaches an open file, whatever became of its
/// name.
func processPath(of descriptor: CInt) -> FilePath { FilePath("/proc/self/fd/\(descriptor)") }

/// Returns the real path of an open file or directory, as `/proc` shows it: `readlinkat(2)`.
///
/// - Throws: `ENAMETOOLONG` for a path beyond `PATH_MAX`.
package func realPath(ofOpen descriptor: FileDescriptor) throws(Errno) -> FilePath {
    try symbolicLinkTarget(processPath(of: descriptor.rawValue))
}

/// An open file or directory that is closed at the end of its owner's lifetime.
package struct OwnedDescriptor: ~Copyable {
    package let descriptor: FileDescriptor

    package init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    package consuming func release() -> FileDescriptor {
        let released = descriptor
        discard self
        return released
    }

    deinit {
        // Writes that must not be lost are synchronized, or the file is closed explicitly, before.
        closeIgnoringErrors(descriptor)
    }
}

/// An open file or directory with several owners, closed with the last reference to it.
package final class SharedDescriptor: Sendable {
    private let owned: OwnedDescriptor

    package init(_ descriptor: FileDescriptor) { owned = OwnedDescriptor(descriptor) }

    package var descriptor: FileDescriptor { owned.descriptor }
}

// The flags of open(2) that swift-system does not name.
extension FileDescriptor.OpenOptions {
    package static var readOnly: Self { Self(rawValue: O_RDONLY) }
    package static var writeOnly: Self { Self(rawValue: O_WRONLY) }
    package static var readWrite: Self { Self(rawValue: O_RDWR) }
    /// Open as a reference for other calls, without permission on the file itself (`O_PATH`).
    package static var reference: Self { Self(rawValue: O_PATH) }
    /// Do not make a terminal the process's controlling terminal (`O_NOCTTY`).
    package static var noTerminal: Self { Self(rawValue: O_NOCTTY) }
    /// Do not update the access time on reads; permitted to the owner only (`O_NOATIME`).
    package static var noAccessTime: Self { Self(rawValue: O_NOATIME) }
}

extension FileDescriptor {
    /// The working directory, from which relative paths start (`AT_FDCWD`).
    package static var workingDirectory: FileDescriptor { FileDescriptor(rawValue: AT_FDCWD) }
}

/// Opens a directory as a reference for calls on its entries, by a path without symbolic links
/// (`O_PATH`).
///
/// - Throws: `ELOOP` if any component is a symbolic link.
package func openDirectoryReferenceWithoutLinks(
    _ path: FilePath
) throws(Errno) -> FileDescriptor {
    let start = OwnedDescriptor(try openDirectoryReference(path.isAbsolute ? "/" : "."))
    let names = path.components.map { FilePath(root: nil, [$0]) }
    return try open(
        names, in: start.descriptor, flags: [.reference, .directory], crossingMounts: true)
}

/// Opens an entry of an open directory as a reference for other calls (`O_PATH`); a symbolic link
/// is not followed.
package func openReference(
    _ name: FilePath, in directory: FileDescriptor
) throws(Errno) -> FileDescriptor {
    try openFile(in: directory, name, flags: [.reference, .noFollow])
}

package func reopenForWriting(_ descriptor: FileDescriptor) throws(Errno) -> FileDescriptor {
    try reopenFile(descriptor, flags: [.readWrite, .nonBlocking, .noTerminal])
}

/// Opens an item below an open directory, without following links: `openat2(2)` with
/// `RESOLVE_BENEATH`, `RESOLVE_NO_SYMLINKS`, `RESOLVE_NO_MAGICLINKS` and `RESOLVE_NO_XDEV`, or name
/// by name where that call is not available.
///
/// - Parameters:
///   - flags: `O_CLOEXEC` is added.
///   - crossesMounts: omits `RESOLVE_NO_XDEV`.
/// - Throws: `EXDEV` if the path leaves the directory, or crosses a mount point without
///   `crossesMounts`; `ELOOP` for a link in the path, including its last component but with `O_PATH` and
///   `O_NOFOLLOW`, which open the link.
package func openBeneath(
    _ path: FilePath, in directory: FileDescriptor, flags: FileDescriptor.OpenOptions,
    crossingMounts crossesMounts: Bool = false
) throws(Errno) -> FileDescriptor {
    guard AvailableCalls.openat2 else {
        let names = path.components.map { FilePath(root: nil, [$0]) }
        guard !path.isAbsolute, !names.contains("..") else { throw .improperLink }
        return try open(names, in: directory, flags: flags, crossingMounts: crossesMounts)
    }
    let descriptor = try perform(.openat2, path) {
        linux_open_beneath(
            directory.rawValue, $0, UInt64(flags.union(.closeOnExec).rawValue), crossesMounts)
    }
    return FileDescriptor(rawValue: CInt(descriptor))
}

/// Goes down name by name without following links. Each item is opened with `O_PATH` and examined
/// before anything else is done to it: opening it otherwise can mount a filesystem or wait for one.
private func open(
    _ names: [FilePath], in directory: FileDescriptor, flags: FileDescriptor.OpenOptions,
    crossingMounts crossesMounts: Bool
) throws(Errno) -> FileDescriptor {
    var reached = SharedDescriptor(try openReference(".", in: directory))
    let mount = crossesMounts ? nil : try mountNumber(of: reached.descriptor)
    for (index, name) in names.enumerated() {
        reached = SharedDescriptor(try openReference(name, in: reached.descriptor))
        let status = try reached.descriptor.status()
        let isLast = index == names.count - 1
        if status.kind == .symbolicLink, !isLast || !flags.isSuperset(of: [.reference, .noFollow]) {
            throw .tooManySymbolicLinkLevels
        }
        let isDirectoryNeeded = !isLast || flags.contains(.directory)
        if isDirectoryNeeded, status.kind != .directory { throw .notDirectory }
        if let mount {
            let isSame = try mountNumber(of: reached.descriptor) == mount
            guard isSame, status.isMountTrigger != true else { throw .improperLink }
        }
    }
    // What is open is opened again, whatever has its name now.
    do throws(Errno) {
        return try reopenFile(reached.descriptor, flags: flags.subtracting(.noFollow))
    } catch .noSuchFileOrDirectory {
        // It is open, so /proc is missing: never report that the file vanished.
        throw .noFunction
    }
}

/// Returns the number of the mount that an open file was reached through: `statx(2)`, or `/proc`
/// before Linux 5.8.
private func mountNumber(of descriptor: FileDescriptor) throws(Errno) -> Int {
    if let number = try descriptor.status().mountNumber { return number }
    let file = OwnedDescriptor(
        try openForReading(FilePath("/proc/self/fdinfo/\(descriptor.rawValue)")))
    let lines = try contents(ofOpen: file.descriptor, file.descriptor.status(), limit: 65536)
        .split(separator: UInt8(ascii: "\n"))
    let key = Array("mnt_id:".utf8)
    guard let line = lines.first(where: { $0.starts(with: key) }),
        let number = Int(
            String(decoding: line.dropFirst(key.count).drop { $0 <= 32 }, as: UTF8.self))
    else { throw .noFunction }
    return number
}

/// Opens a path as a reference for other calls (`O_PATH`), as a process with another root directory
/// would: symbolic links in the path start from that root, and `..` does not lead out of it.
///
/// - Parameter root: the open directory that is `/`.
/// - Throws: `ELOOP` after 40 links.
package func openReference(
    _ path: FilePath, inRoot root: FileDescriptor
) throws(Errno) -> SharedDescriptor {
    let top = SharedDescriptor(try openReference(".", in: root))
    var way = [top]
    var names = Array(path.components.reversed())
    var links = 0
    while let name = names.popLast() {
        if name.kind == .currentDirectory { continue }
        if name.kind == .parentDirectory {
            if way.count > 1 { way.removeLast() }
            continue
        }
        guard let directory = way.last else { break }
        let next = SharedDescriptor(
            try openReference(FilePath(root: nil, [name]), in: directory.descriptor))
        // Without waiting for a server or a FUSE program.
        guard try next.descriptor.statusAtHand().kind == .symbolicLink else {
            way.append(next)
            continue
        }
        links += 1
        guard links <= 40 else { throw .tooManySymbolicLinkLevels }
        let target = try symbolicLinkTarget(next.descriptor)
        if target.isAbsolute { way = [top] }
        names += target.components.reversed()
    }
    return way.last ?? top
}

// Opening so that reading does not count as use: with `O_NOATIME` where permitted, which is for the
// owner and privileged processes.

/// As ``openBeneath(_:in:flags:)``; reading preserves the access time where permitted.
package func openBeneathPreservingAccessTime(
    _ path: FilePath, in directory: FileDescriptor, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    try preservingAccessTime(flags) { flags throws(Errno) in
        try openBeneath(path, in: directory, flags: flags)
    }
}

/// Opens the file at a location; reading it preserves its access time where permitted.
package func openPreservingAccessTime(
    _ location: borrowing some FileLocation & ~Copyable, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    try preservingAccessTime(flags) { flags throws(Errno) in
        try openFile(location, flags: flags)
    }
}

private func preservingAccessTime(
    _ flags: FileDescriptor.OpenOptions,
    _ open: (FileDescriptor.OpenOptions) throws(Errno) -> FileDescriptor
) throws(Errno) -> FileDescriptor {
    do throws(Errno) {
        return try open(flags.union(.noAccessTime))
    } catch .notPermitted {
        return try open(flags)
    }
}
