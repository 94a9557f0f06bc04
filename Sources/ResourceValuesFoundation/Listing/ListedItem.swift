#if !canImport(Darwin)
import Foundation
import SystemCalls
import SystemPackage

/// An entry of a directory with the URL that leads to it, whatever bytes its name has.
struct ListedItem {
    let url: URL
    let isDirectory: Bool
    let isHidden: Bool

    /// The entries of a directory, in the filesystem's order.
    ///
    /// A symbolic link is not followed, so it is no directory.
    ///
    /// - Throws: `CocoaError` of opening or reading the directory.
    static func all(in directory: URL) throws -> [ListedItem] {
        do {
            return try directory.withItem { target in
                var entries: [(name: [UInt8], isDirectory: Bool?)] = []
                do throws(Errno) {
                    try forEachEntry(in: target) { name, isDirectory in
                        entries.append((name, isDirectory))
                        return true
                    }
                } catch {
                    throw FileError.opening(error, nil)
                }
                return try entries.map { try ListedItem($0.name, $0.isDirectory, in: directory) }
            }
        } catch {
            throw CocoaError(error, directory, .reading)
        }
    }

    private init(_ name: [UInt8], _ isDirectory: Bool?, in directory: URL) throws {
        // Only where the filesystem does not tell the kind is the item itself asked.
        self.isDirectory =
            try isDirectory
            ?? directory.appending(name, isDirectory: false)
            .resourceValues(forKeys: [.isDirectoryKey]).isDirectory ?? false
        isHidden = name.first == UInt8(ascii: ".")
        url = directory.appending(name, isDirectory: self.isDirectory)
    }
}

extension URL {
    /// The URL of an entry of the directory.
    fileprivate func appending(_ name: [UInt8], isDirectory: Bool) -> URL {
        if let text = String(validating: name, as: UTF8.self) {
            return appendingPathComponent(text, isDirectory: isDirectory)
        }
        // Escapes alone, so that it is a valid URL; the plain one stands for what cannot happen.
        let base = absoluteString.hasSuffix("/") ? absoluteString : absoluteString + "/"
        return URL(string: base + name.percentEscaped + (isDirectory ? "/" : "")) ?? self
    }

    /// The same place told from a directory above it; itself where it is not below.
    func relative(to directory: URL) -> URL {
        let text = directory.absoluteString
        let base = text.hasSuffix("/") ? text : text + "/"
        guard absoluteString.hasPrefix(base), let baseURL = URL(string: base) else { return self }
        return URL(string: String(absoluteString.dropFirst(base.count)), relativeTo: baseURL)
            ?? self
    }
}
#endif
