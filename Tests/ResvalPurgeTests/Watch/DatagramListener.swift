import CTestSupport
import Glibc

/// A socket that takes what a process tells its service manager.
final class DatagramListener {
    private let descriptor: CInt

    /// Listens at a path, or at a name in the abstract namespace after an `@`.
    init?(_ address: String) {
        var bytes = Array(address.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        descriptor = test_listen_for_datagrams(bytes, CInt(bytes.count))
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// The next message; nil when none comes in time.
    func next(within milliseconds: Int32 = 10_000) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = test_receive_datagram(descriptor, &buffer, 4096, milliseconds)
        return count < 0 ? nil : String(decoding: buffer[..<Int(count)], as: UTF8.self)
    }

    /// Takes messages until one begins with a text; nil when none comes in time.
    func next(beginning text: String) -> String? {
        while let message = next() {
            if message.hasPrefix(text) { return message }
        }
        return nil
    }
}
