import CLinux
import SystemPackage

// Settings, rules and state are trusted because of who owns the file. That proves nothing where another
// user chose which file it is: the file cmdline of a process in `/proc` can belong to root and have the
// bytes of any user.

/// Opens a file for reading that is to be trusted because of its owner, which the caller checks, as it
/// does the kind.
///
/// A symbolic link, anywhere in the path, is followed only where each directory on the way belongs to
/// root or to this process's user, and no other user can write there.
///
/// - Throws: ``FileError``: `unsafePath` for a link where that is not so, and for a file on a filesystem
///   whose files the kernel, or another user's program, makes; others as `openat(2)`.
package func openTrustedFile(_ path: FilePath) throws(FileError) -> SharedDescriptor {
    let way = try TrustedWay(path)
    let file = try calls(on: path, FileError.opening) { () throws(Errno) in
        SharedDescriptor(try openForReading(way.name, in: way.directory.descriptor))
    }
    try requireOrdinaryFilesystem(file.descriptor, path)
    return file
}

/// Checks that an open file is not on a filesystem such as `/proc`.
///
/// - Throws: ``FileError``, `unsafePath` if it is.
package func requireOrdinaryFilesystem(
    _ file: FileDescriptor, _ path: FilePath
) throws(FileError) {
    let type = try calls(on: path, FileError.opening) { () throws(Errno) in
        try filesystemStatus(ofOpen: file).type
    }
    // What a FUSE filesystem says of owners is up to the user who mounted it.
    guard !specialFilesystems.contains(type), type != fuse || effectiveUser() != 0 else {
        throw FileError(
            code: .unsafePath,
            message: "is on a filesystem that stores no files, or that another program makes up",
            advice: "copy it to a directory on a disk", path: path)
    }
}

/// Checks the way to a file of a state directory, as ``openTrustedFile(_:)`` does.
package func requireTrustedWay(to path: FilePath) throws(FileError) {
    _ = try TrustedWay(path)
}

/// The way to a file, from the root or the working directory, to the directory that contains it. Each
/// directory is opened in the one before.
private struct TrustedWay {
    private(set) var directory: SharedDescriptor
    /// The file's name in the directory, which is no link unless the file is missing.
    private(set) var name: FilePath = "."
    private let user = effectiveUser()
    private var linkCount = 0
    /// Each directory on the way, with the status of the item that was met in it.
    private var steps: [(directory: SharedDescriptor, item: FileStatus)] = []

    init(_ path: FilePath) throws(FileError) {
        let isClosed: Bool
        do throws(Errno) {
            directory = SharedDescriptor(try openDirectoryReference(path.isAbsolute ? "/" : "."))
            try go(path)
            isClosed = linkCount > 0 ? try isClosedToOthers() : true
        } catch {
            throw .opening(error, path)
        }
        guard isClosed else {
            throw FileError(
                code: .unsafePath,
                message: "a symbolic link leads to it, and another user can change the way",
                advice: "name the file that it leads to", path: path)
        }
    }

    private mutating func go(_ path: FilePath) throws(Errno) {
        var pending = Array(path.components.reversed())
        while let next = pending.popLast() {
            name = FilePath(root: nil, [next])
            if next.kind == .currentDirectory { continue }
            let item: SharedDescriptor
            let status: FileStatus
            do throws(Errno) {
                item = SharedDescriptor(try openReference(name, in: directory.descriptor))
                status = try item.descriptor.status()
            } catch {
                // The caller meets the error of a file that is missing, and may make it.
                if pending.isEmpty && error == .noSuchFileOrDirectory { return }
                throw error
            }
            if next.kind == .parentDirectory {
                directory = item
                continue
            }
            steps.append((directory, status))
            if status.kind == .symbolicLink {
                linkCount += 1
                guard linkCount <= 40 else { throw .tooManySymbolicLinkLevels }
                let target = try symbolicLinkTarget(item.descriptor)
                if target.isAbsolute {
                    directory = SharedDescriptor(try openDirectoryReference("/"))
                }
                pending += target.components.reversed()
                name = "."
            } else if !pending.isEmpty {
                directory = item
            }
        }
    }

    /// Whether only root and this process's user can change what the names on the way lead to.
    private func isClosedToOthers() throws(Errno) -> Bool {
        let trusted = [0, user]
        for (directory, item) in steps {
            let status = try directory.descriptor.status()
            guard trusted.contains(status.owner) else { return false }
            let isOpen =
                status.permissions & 0o002 != 0
                || status.permissions & 0o020 != 0 && !isPrivate(status.group, of: directory)
            // In a sticky directory only the owner of an item can remove or rename it.
            let isSticky = status.permissions & UInt16(S_ISVTX) != 0 && status.owner == 0
            if isOpen && !(isSticky && trusted.contains(item.owner)) { return false }
        }
        return true
    }

    /// Whether only root and this process's user are in the group of a directory, as where each user
    /// has a group and an umask of 002, and its group bits are those of the group.
    private func isPrivate(_ group: UInt32, of directory: SharedDescriptor) -> Bool {
        let accessList: ExtendedAttributeName = "system.posix_acl_access"
        let hasAccessList = directory.descriptor.has(accessList)
        let groups = fields(in: "/etc/group").filter { $0.count > 3 && number($0[2]) == group }
        guard !hasAccessList, !groups.isEmpty else { return false }
        let accounts = fields(in: "/etc/passwd").filter { $0.count > 3 }
        let names = accounts.filter { [0, user].contains(number($0[2])) }.map { $0[0] }
        let members = groups.flatMap { $0[3].split(separator: UInt8(ascii: ",")) }
        return members.allSatisfy { names.contains(Array($0)) }
            && accounts.allSatisfy {
                number($0[3]) != group || [0, user].contains(number($0[2]))
            }
    }
}

/// Returns the lines of a file of accounts, as fields; none if it cannot be read, which proves nothing.
private func fields(in path: FilePath) -> [[[UInt8]]] {
    ((try? contentsOfFile(path)) ?? []).split(separator: UInt8(ascii: "\n")).map { line in
        line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map(Array.init)
    }
}

private func number(_ field: [UInt8]) -> UInt32? { UInt32(String(decoding: field, as: UTF8.self)) }

extension FileDescriptor {
    /// Whether an open file has an attribute. True also when that cannot be asked.
    fileprivate func has(_ attribute: ExtendedAttributeName) -> Bool {
        do throws(Errno) {
            return try withCallTarget { target throws(Errno) in
                try attribute.withPointer { name throws(Errno) in
                    _ = try ExtendedAttributeCalls.get(
                        target, name, into: UnsafeMutableRawBufferPointer(start: nil, count: 0))
                    return true
                }
            }
        } catch .noData, .notSupported {
            return false
        } catch {
            return true
        }
    }
}

/// The magic number of FUSE filesystems (linux/magic.h).
private let fuse: UInt32 = 0x6573_5546

/// The magic numbers of filesystems without files of their own (linux/magic.h): proc, sysfs, debugfs,
/// tracefs, securityfs, configfs, bpf, cgroup and cgroup2, devpts, pstore, efivarfs, binfmt_misc,
/// selinuxfs, smackfs, mqueue, pipefs, sockfs, anonymous inodes, nsfs, pidfs, rpc_pipefs, nfsd, fusectl and
/// autofs.
private let specialFilesystems: Set<UInt32> = [
    0x9FA0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0x6265_6570, 0xCAFE_4A11,
    0x0027_E0EB, 0x6367_7270, 0x1CD1, 0x6165_676C, 0xDE5E_81E4, 0x4249_4E4D, 0xF97C_FF8C,
    0x4341_5D53, 0x1980_0202, 0x5049_5045, 0x534F_434B, 0x0904_1934, 0x6E73_6673, 0x5049_4446,
    0x6759_6969, 0x6E66_7364, 0x6573_5543, 0x0187,
]
