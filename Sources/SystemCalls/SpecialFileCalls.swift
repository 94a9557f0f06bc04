import CLinux
import SystemPackage

/// Creates a FIFO or a device node: `mknodat(2)`.
///
/// - Parameter device: the device number; nil for a FIFO.
package func makeSpecialFile(
    _ name: FilePath, in directory: FileDescriptor, _ kind: FileKind, permissions: UInt16,
    device: DeviceNumber?
) throws(Errno) {
    let type: mode_t
    switch kind {
    case .fifo: type = mode_t(S_IFIFO)
    case .characterDevice: type = mode_t(S_IFCHR)
    case .blockDevice: type = mode_t(S_IFBLK)
    default: throw .invalidArgument
    }
    _ = try name.withPointer { name throws(Errno) in
        try perform(.mknodat) {
            linux_mknodat(
                directory.rawValue, name, type | mode_t(permissions), device?.major ?? 0,
                device?.minor ?? 0)
        }
    }
}

/// Sets the owner and the group of the item at a location: `fchownat(2)`.
package func setOwner(
    _ user: UInt32, group: UInt32, of location: borrowing some FileLocation & ~Copyable
) throws(Errno) {
    try location.withCallTarget { target throws(Errno) in
        _ = try perform(.fchownat) {
            linux_fchownat(target.directory, target.path, user, group, target.flags)
        }
    }
}

/// Sends one datagram to a local socket, without waiting: `sendto(2)`.
///
/// - Parameter address: the socket's path or, after a leading NUL, its name in the abstract
///   namespace.
/// - Throws: the errno of `socket(2)` or `sendto(2)`; `ENAMETOOLONG` for an address longer than 107
///   bytes.
package func sendDatagram(_ message: [UInt8], to address: [UInt8]) throws(Errno) {
    _ = try perform(.sendto) {
        linux_send_datagram(address, address.count, message, message.count)
    }
}
