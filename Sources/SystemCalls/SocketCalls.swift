import CLinux
import SystemPackage

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
