import CLinux
import SystemPackage

/// Opens a file: `openat(2)`, always with `O_CLOEXEC`.
///
/// - Parameter directory: the directory a relative path starts from, or `AT_FDCWD`.
/// - Throws: the call's errno.
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

/// Opens a file for reading, without waiting for the other end of a FIFO.
package func openForReading(_ path: FilePath) throws(Errno) -> FileDescriptor {
    try openFile(path, flags: [.readOnly, .nonBlocking, .noTerminal])
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

/// Reads up to the buffer's size: `read(2)`.
///
/// - Returns: the number of bytes read; 0 at the end of the file.
package func readFile(
    _ descriptor: FileDescriptor, into buffer: UnsafeMutableRawBufferPointer
) throws(Errno) -> Int {
    try perform(.read) { linux_read(descriptor.rawValue, buffer.baseAddress, buffer.count) }
}

/// Writes all bytes: `write(2)`, repeated until all are written.
package func writeFile(
    _ descriptor: FileDescriptor, _ bytes: UnsafeRawBufferPointer
) throws(Errno) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let chunk = UnsafeRawBufferPointer(rebasing: rest)
        let written = try perform(.write) {
            linux_write(descriptor.rawValue, chunk.baseAddress, chunk.count)
        }
        rest = rest.dropFirst(written)
    }
}

/// Returns the target of a symbolic link: `readlinkat(2)`.
package func symbolicLinkTarget(
    _ location: borrowing some FileLocation & ~Copyable
) throws(Errno) -> FilePath {
    try location.withCallTarget { target throws(Errno) in
        var size = 256
        while true {
            var buffer = [CChar](repeating: 0, count: size + 1)
            let count = try perform(.readlinkat) {
                linux_readlinkat(target.directory, target.path, &buffer, size)
            }
            // A full buffer may contain a truncated target.
            if count < size { return FilePath(platformString: buffer) }
            size *= 4
        }
    }
}

/// Returns the `/proc` path by which this process reaches an open file, whatever became of its
/// name.
func processPath(of descriptor: CInt) -> FilePath { FilePath("/proc/self/fd/\(descriptor)") }
