import SystemCalls
import SystemPackage

/// The symbolic links that udev keeps below `/dev/disk`, which name devices by their contents.
package struct DiskLinks: Sendable {
    private let directory: FilePath

    /// Creates a reader of the links in a directory such as `/dev/disk/by-uuid`.
    package init(_ directory: FilePath) { self.directory = directory }

    /// Returns the name of the link to a device, with udev's escapes undone; nil when there is
    /// none.
    ///
    /// - Parameter device: the kernel's name of the device, such as `sda1`.
    package func name(of device: String) -> [UInt8]? {
        var found: [UInt8]?
        // Without udev the directory does not exist, and no device is found.
        try? forEachName(in: directory) { name in
            let link = directory.appending(FilePath(bytes: name).components)
            let target = try? symbolicLinkTarget(link.withoutFollowing)
            if target?.lastComponent?.string == device { found = unescaped(name) }
            return found == nil
        }
        return found
    }
}

/// Undoes udev's escapes: it writes unsafe bytes as `\xHH`.
private func unescaped(_ name: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = name[...]
    while let byte = rest.popFirst() {
        let digits = rest.dropFirst().prefix(2)
        if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x"), digits.count == 2,
            let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
        {
            bytes.append(value)
            rest.removeFirst(3)
        } else {
            bytes.append(byte)
        }
    }
    return bytes
}
