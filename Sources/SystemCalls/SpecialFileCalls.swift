import CLinux
import SystemPackage

/// Makes a FIFO or a device: `mknodat(2)`.
///
/// - Parameter device: which device; nil for a FIFO.
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

/// Sets the owner and the group of what a location leads to: `fchownat(2)`.
package func setOwner(
    _ user: UInt32, group: UInt32, of location: borrowing some FileLocation & ~Copyable
) throws(Errno) {
    try location.withCallTarget { target throws(Errno) in
        _ = try perform(.fchownat) {
            linux_fchownat(target.directory, target.path, user, group, target.flags)
        }
    }
}

/// Sends one message to a socket of this machine that takes datagrams, without waiting:
/// `sendto(2)`.
///
/// - Parameter address: the socket's path; with a NUL in front, its name in the abstract namespace.
/// - Throws: the errno of `socket(2)` or `sendto(2)`; `ENAMETOOLONG` for an address beyond 107
///   bytes.
package func sendDatagram(_ message: [UInt8], to address: [UInt8]) throws(Errno) {
    _ = try perform(.sendto) {
        linux_send_datagram(address, address.count, message, message.count)
    }
}
