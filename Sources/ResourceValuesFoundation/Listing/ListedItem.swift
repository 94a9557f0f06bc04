#if !canImport(Darwin)
import Foundation
import SystemCalls
import SystemPackage

/// An entry of a directory with its URL, whatever bytes its name contains.
struct ListedItem {
    let url: URL
    let isDirectory: Bool
    let isHidden: Bool

    /// Returns the entries of a directory, in the filesystem's order.
    ///
    /// Symbolic links are not followed, and so are never directories.
    ///
    /// - Throws: `CocoaError` when the directory cannot be opened or read.
    static func all(in directory: URL) throws -> [ListedItem] {
        do {
            return try directory.withItem { target in
                var entries: [(name: [UInt8], isDirectory: Bool?)] = []
                try forEachEntry(in: target) { name, isDirectory in
                    entries.append((name, isDirectory))
                    return true
                }
                return try entries.map { try ListedItem($0.name, $0.isDirectory, in: directory) }
            }
        } catch {
            throw CocoaError(error, directory, .reading)
        }
    }

    private init(_ name: [UInt8], _ isDirectory: Bool?, in directory: URL) throws {
        // The item itself is read only if the filesystem does not report the kind.
        self.isDirectory =
            try isDirectory
            ?? directory.appending(name, isDirectory: false)
            .resourceValues(forKeys: [.isDirectoryKey]).isDirectory ?? false
        isHidden = name.first == UInt8(ascii: ".")
        url = directory.appending(name, isDirectory: self.isDirectory)
    }
}

extension URL {
    /// Returns the URL of an entry of the directory.
    fileprivate func appending(_ name: [UInt8], isDirectory: Bool) -> URL {
        if let text = String(validating: name, as: UTF8.self) {
            return appendingPathComponent(text, isDirectory: isDirectory)
        }
        // Always valid, since the name is fully escaped; the fallback is unreachable.
        let base = absoluteString.hasSuffix("/") ? absoluteString : absoluteString + "/"
        return URL(string: base + name.percentEscaped + (isDirectory ? "/" : "")) ?? self
    }

    /// Returns the same URL relative to a directory above it; the URL itself when it is not below.
    func relative(to directory: URL) -> URL {
        let text = directory.absoluteString
        let base = text.hasSuffix("/") ? text : text + "/"
        guard absoluteString.hasPrefix(base), let baseURL = URL(string: base) else { return self }
        return URL(string: String(absoluteString.dropFirst(base.count)), relativeTo: baseURL)
            ?? self
    }
}
#endif
