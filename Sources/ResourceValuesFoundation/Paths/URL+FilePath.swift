#if !canImport(Darwin)
import Foundation
import SystemCalls
import SystemPackage
import TextFormats

extension URL {
    /// Creates a file URL from a path, even if its bytes are not UTF-8.
    ///
    /// - Returns: nil when the path is relative.
    init?(bytesOf path: FilePath, isDirectory: Bool) {
        guard path.isAbsolute else { return nil }
        if let text = path.text {
            self.init(filePath: text, directoryHint: isDirectory ? .isDirectory : .notDirectory)
            return
        }
        let escaped = "file://" + path.bytes.percentEscaped
        self.init(string: isDirectory && !escaped.hasSuffix("/") ? escaped + "/" : escaped)
    }
}

extension [UInt8] {
    /// The bytes as part of a URL's path, with slashes unescaped.
    var percentEscaped: String { Percent.text(of: self, keeping: "-._~/") }
}

extension FilePath {
    /// The path as text; nil when it is not UTF-8.
    var text: String? {
        withPlatformString { String(validatingCString: $0) }
    }
}
#endif
