import Glibc
import SystemCalls
import SystemPackage

/// An open directory and what fixtures do to its entries, by name and without following links.
package struct DirectoryHandle: ~Copyable {
    let descriptor: FileDescriptor

    /// Opens a directory by a path of any length.
    init(at path: FilePath) throws {
        descriptor = try openFile(path, flags: [.readOnly, .directory])
    }

    private init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    deinit { close(descriptor.rawValue) }

    func location(_ name: FileName) -> DirectoryEntryLocation {
        DirectoryEntryLocation(directory: descriptor, name: FilePath(bytes: name.bytes))
    }

    func openDirectory(_ name: FileName) throws -> DirectoryHandle {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let opened = try call("open", name) { openat(descriptor.rawValue, $0, flags) }
        return DirectoryHandle(FileDescriptor(rawValue: opened))
    }

    func createFile(_ name: FileName) throws -> FileDescriptor {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let opened = try call("create", name) { openat(descriptor.rawValue, $0, flags, 0o644) }
        return FileDescriptor(rawValue: opened)
    }

    func makeDirectory(_ name: FileName) throws {
        try call("mkdir", name) { mkdirat(descriptor.rawValue, $0, 0o755) }
    }

    /// Makes a node that is no directory: a FIFO, a socket or a device.
    func makeNode(_ name: FileName, kind: mode_t, device: dev_t = 0) throws {
        try call("mknod", name) { mknodat(descriptor.rawValue, $0, kind | 0o644, device) }
    }

    func makeSymbolicLink(_ name: FileName, to target: [UInt8]) throws {
        try call("symlink", name) { name in
            FilePath(bytes: target).withPlatformString { symlinkat($0, descriptor.rawValue, name) }
        }
    }

    func makeHardLink(_ name: FileName, to target: FilePath, from root: FileDescriptor) throws {
        try call("link", name) { name in
            target.withPlatformString { linkat(root.rawValue, $0, descriptor.rawValue, name, 0) }
        }
    }

    func setPermissions(_ name: FileName, _ permissions: UInt16) throws {
        try call("chmod", name) { fchmodat(descriptor.rawValue, $0, mode_t(permissions), 0) }
    }

    func setOwner(_ name: FileName, user: UInt32, group: UInt32) throws {
        try call("chown", name) {
            fchownat(descriptor.rawValue, $0, user, group, AT_SYMLINK_NOFOLLOW)
        }
    }

    func setModificationTime(_ name: FileName, _ time: FileTime) throws {
        let moment = timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds))
        try call("utimensat", name) {
            utimensat(descriptor.rawValue, $0, [moment, moment], AT_SYMLINK_NOFOLLOW)
        }
    }

    func remove(_ name: FileName, isDirectory: Bool) throws {
        try call("unlink", name) {
            unlinkat(descriptor.rawValue, $0, isDirectory ? AT_REMOVEDIR : 0)
        }
    }

    func move(_ name: FileName, to directory: borrowing DirectoryHandle, as other: FileName) throws
    {
        let target = directory.descriptor.rawValue
        try call("rename", name) { name in
            FilePath(bytes: other.bytes).withPlatformString {
                renameat(descriptor.rawValue, name, target, $0)
            }
        }
    }

    /// The names in this directory, without `.` and `..`, in the filesystem's order.
    func names() throws -> [FileName] {
        let copy = try call("open", ".") {
            openat(descriptor.rawValue, $0, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard let stream = fdopendir(copy) else {
            throw FixtureError(call: "fdopendir", file: ".", errno: Errno(rawValue: errno))
        }
        defer { closedir(stream) }
        var names: [FileName] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if name != Array(".".utf8) && name != Array("..".utf8) { names.append(FileName(name)) }
        }
        return names
    }

    @discardableResult
    private func call(
        _ what: String, _ name: FileName, _ body: (UnsafePointer<CChar>) -> CInt
    ) throws -> CInt {
        // A plain C string: FilePath would take the name " " or "a//b" apart in its own way.
        let characters = name.bytes.map { CChar(bitPattern: $0) } + [0]
        let result = characters.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map(body) ?? -1
        }
        guard result >= 0 else {
            throw FixtureError(call: what, file: name.description, errno: Errno(rawValue: errno))
        }
        return result
    }
}
