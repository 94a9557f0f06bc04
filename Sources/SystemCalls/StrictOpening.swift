import CLinux
import SystemPackage

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

/// Opens a file that is open with `O_PATH` again, for reading and writing.
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
///   `crossesMounts`; `ELOOP` for a link in the path, including its last component.
package func openBeneath(
    _ path: FilePath, in directory: FileDescriptor, flags: FileDescriptor.OpenOptions,
    crossingMounts crossesMounts: Bool = false
) throws(Errno) -> FileDescriptor {
    guard AvailableCalls.openat2 else {
        let names = path.components.map { FilePath(root: nil, [$0]) }
        guard !path.isAbsolute, !names.contains("..") else { throw .improperLink }
        return try open(names, in: directory, flags: flags, crossingMounts: crossesMounts)
    }
    return try path.withPointer { path throws(Errno) in
        let descriptor = try perform(.openat2) {
            linux_open_beneath(
                directory.rawValue, path, UInt64(flags.union(.closeOnExec).rawValue), crossesMounts)
        }
        return FileDescriptor(rawValue: CInt(descriptor))
    }
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
        if status.kind == .symbolicLink { throw .tooManySymbolicLinkLevels }
        let isDirectoryNeeded = index < names.count - 1 || flags.contains(.directory)
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

/// As ``openBeneath(_:in:flags:)``; reading preserves the access time where permitted.
package func openBeneathPreservingAccessTime(
    _ path: FilePath, in directory: FileDescriptor, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    do throws(Errno) {
        return try openBeneath(path, in: directory, flags: flags.union(.noAccessTime))
    } catch .notPermitted {
        return try openBeneath(path, in: directory, flags: flags)
    }
}

// Opening so that reading does not count as use: with `O_NOATIME` where permitted, which is for the
// owner and privileged processes.

/// Opens a file in an open directory; reading it preserves its access time where permitted.
package func openPreservingAccessTime(
    in directory: FileDescriptor, _ name: FilePath, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    do throws(Errno) {
        return try openFile(in: directory, name, flags: flags.union(.noAccessTime))
    } catch .notPermitted {
        return try openFile(in: directory, name, flags: flags)
    }
}

/// Opens the file at a location; reading it preserves its access time where permitted.
package func openPreservingAccessTime(
    _ location: borrowing some FileLocation & ~Copyable, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    do throws(Errno) {
        return try openFile(location, flags: flags.union(.noAccessTime))
    } catch .notPermitted {
        return try openFile(location, flags: flags)
    }
}
