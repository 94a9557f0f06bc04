import Glibc
import SystemCalls
import SystemPackage

/// The name of a file: any bytes but NUL and slash. A string literal stands for its UTF-8 bytes.
package struct FileName: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

extension FileName: ExpressibleByStringInterpolation {
    package init(stringLiteral name: String) { self.init(Array(name.utf8)) }
}

extension FileName: CustomStringConvertible {
    /// The name in double quotes, with everything but printable ASCII escaped as `\xHH`.
    package var description: String { quotedForMessages(bytes) }
}

extension FilePath {
    /// The path of the innermost of directories of one name inside each other.
    ///
    /// Made in one piece: appending to a path that is long already takes time for all of it.
    package func appending(_ name: FileName, times count: Int) -> FilePath {
        let step = [UInt8(ascii: "/")] + name.bytes
        return FilePath(bytes: bytes + Array(repeating: step, count: count).joined())
    }

    /// The path of an entry of the directory at this path.
    package func appending(_ name: FileName) -> FilePath { pushing(FilePath(bytes: name.bytes)) }

    /// Whether anything stands at the path, also a link that leads nowhere, or may: what cannot be
    /// looked at counts as there.
    package var exists: Bool {
        do throws(Errno) {
            _ = try withoutFollowing.status()
            return true
        } catch {
            return error != .noSuchFileOrDirectory
        }
    }
}

/// Bytes in double quotes, with everything but printable ASCII escaped as `\xHH`.
package func quotedForMessages(_ bytes: [UInt8]) -> String {
    var text = "\""
    for byte in bytes {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += "\\" + String(UnicodeScalar(byte))
        case 0x20..<0x7F: text += String(UnicodeScalar(byte))
        default: text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
    return text + "\""
}
