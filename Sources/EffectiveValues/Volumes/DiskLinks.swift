import SystemCalls
import SystemPackage

/// The links udev keeps in `/dev/disk`, which name devices by what is on them.
package struct DiskLinks: Sendable {
    private let directory: FilePath

    /// Creates a look at the links in a directory such as `/dev/disk/by-uuid`.
    package init(_ directory: FilePath) { self.directory = directory }

    /// The name under which a device is linked, with udev's escapes undone; nil when there is none.
    ///
    /// - Parameter device: the kernel's name of a device, such as `sda1`.
    package func name(of device: String) -> [UInt8]? {
        var found: [UInt8]?
        // Without udev the directory is not there, and no device has a name in it.
        try? forEachName(in: directory) { name in
            let link = directory.appending(FilePath(bytes: name).components)
            let target = try? symbolicLinkTarget(link.withoutFollowing)
            if target?.lastComponent?.string == device { found = unescaped(name) }
            return found == nil
        }
        return found
    }
}

/// udev writes bytes it does not like as `\xHH`.
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
