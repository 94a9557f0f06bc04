#if !canImport(Darwin)
import Foundation
import SystemPackage

extension URL {
    /// A file URL that leads to a path, also where its bytes are not UTF-8.
    ///
    /// - Returns: nil when the path is relative.
    init?(bytesOf path: FilePath, isDirectory: Bool) {
        guard path.isAbsolute else { return nil }
        if let text = path.text {
            self.init(filePath: text, directoryHint: isDirectory ? .isDirectory : .notDirectory)
            return
        }
        var escaped = "file://"
        path.forEachByte { byte in
            if allowed.contains(byte) {
                escaped.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        if isDirectory && !escaped.hasSuffix("/") { escaped += "/" }
        self.init(string: escaped)
    }
}

/// What stands for itself in the path of a URL.
private let allowed = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8)

extension FilePath {
    /// The path as text; nil when it is not UTF-8.
    var text: String? {
        withPlatformString { String(validatingCString: $0) }
    }

    fileprivate func forEachByte(_ body: (UInt8) -> Void) {
        withPlatformString { pointer in
            for byte in UnsafeBufferPointer(start: pointer, count: length) {
                body(UInt8(bitPattern: byte))
            }
        }
    }
}
#endif
