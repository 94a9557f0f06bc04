import CLinux
import SystemPackage

/// The handle of an inode on its filesystem, as the kernel also names it in `/proc/PID/fdinfo`. Unlike
/// a device number there, it is the same however the filesystem is mounted.
package struct InodeHandle: Sendable, Hashable {
    private let type: Int32
    private let bytes: [UInt8]

    package init(type: Int32, bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }
}

/// Returns the handle of an item: `name_to_handle_at(2)`, without following a symbolic link.
///
/// - Throws: `EOPNOTSUPP` where a filesystem has no handles.
package func inodeHandle(
    of item: borrowing some FileLocation & ~Copyable
) throws(Errno) -> InodeHandle {
    var type: Int32 = 0
    var bytes = [UInt8](repeating: 0, count: 128)
    var count = 0
    try item.lookUp { target throws(Errno) in
        count = try perform(.name_to_handle_at) {
            linux_file_handle(
                target.directory, target.path, target.flags & AT_EMPTY_PATH, &type, &bytes)
        }
    }
    return InodeHandle(type: type, bytes: Array(bytes[..<count]))
}
