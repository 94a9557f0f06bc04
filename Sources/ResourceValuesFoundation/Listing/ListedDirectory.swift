#if !canImport(Darwin)
import Foundation
import SystemCalls
import SystemPackage

/// A directory to list, and what the URLs of its entries begin with.
struct ListedDirectory {
    /// The directory's URL, as the caller knows it.
    let url: URL
    /// The path for system calls, NUL-terminated and without a slash at the end.
    let path: [UInt8]
    /// The text of an entry's URL before its name; empty, or ending in a slash.
    private let prefix: [UInt8]
    /// What the URLs of entries are relative to; nil for absolute URLs.
    private let base: URL?

    /// Finds a directory by its URL.
    ///
    /// As in Foundation, URLs of entries are absolute even if the directory's is relative, and a URL
    /// without a scheme names a directory by its path; if that is relative, URLs of entries are
    /// relative to the working directory. With `isRelative` they are relative to the directory.
    ///
    /// - Throws: `CocoaError`: `fileReadUnsupportedScheme`, and `fileReadInvalidFileName` also for a
    ///   path that is not UTF-8.
    init(_ url: URL, isRelative: Bool) throws {
        let path: FilePath
        let text: String
        do {
            path = try url.listedPath()
            text = try path.textOfURL()
        } catch {
            throw CocoaError(error, url, .reading)
        }
        let start = path.isAbsolute ? nil : URL.currentDirectory()
        self.url = url
        self.path = path.bytes + [0]
        base = isRelative ? URL(string: text, relativeTo: start) : start
        prefix = isRelative ? [] : Array(text.utf8)
    }

    /// Creates the directory that is an entry, from its name and its URL.
    init(_ name: UnsafeRawBufferPointer, _ url: URL, in parent: ListedDirectory) {
        self.url = url
        path = parent.path(of: name) + [0]
        prefix = Array(url.relativeString.utf8)
        base = parent.base
    }

    /// Returns the URL of an entry; nil when the name is not UTF-8.
    func url(of name: UnsafeRawBufferPointer, isDirectory: Bool) -> URL? {
        urlText(prefix, name, isDirectory: isDirectory).flatMap {
            URL(string: $0, relativeTo: base)
        }
    }

    /// Returns the path of an entry, without a NUL.
    func path(of name: UnsafeRawBufferPointer) -> [UInt8] {
        path.dropLast() + (path.count == 2 && path[0] == slash ? [] : [slash]) + name
    }
}

extension URL {
    /// Returns the path of a directory to list.
    fileprivate func listedPath() throws -> FilePath {
        if scheme == nil && !isFileURL {
            guard !path.isEmpty else { throw FileURLError.emptyPath }
            return FilePath(path)
        }
        return try filePath()
    }
}

extension FilePath {
    /// Returns the text of a directory's URL, without a scheme if the path is relative.
    fileprivate func textOfURL() throws(FileError) -> String {
        let scheme = isAbsolute ? Array("file://".utf8) : []
        let text = bytes.withUnsafeBytes { bytes in
            urlText(scheme, bytes, isDirectory: bytes.last != slash)
        }
        guard let text else { throw FileError(notUTF8: self) }
        return text
    }
}

extension FileError {
    /// Creates the error for an item that has no URL.
    init(notUTF8 path: FilePath) {
        self.init(
            code: .nameTooLong, message: "the name is not UTF-8, so that no URL leads to the item",
            advice: "use FilePath, which keeps every byte", path: path)
    }
}

/// Returns a URL's text from its beginning and a path or a name, escaped as Foundation escapes it; nil
/// when the path is not UTF-8.
private func urlText(
    _ prefix: [UInt8], _ path: UnsafeRawBufferPointer, isDirectory: Bool
) -> String? {
    // A colon in the first name of a relative URL would end a scheme.
    let isFirst = prefix.isEmpty
    var escapes = 0
    for byte in path where !isUnescaped(byte, isFirst: isFirst) { escapes += 1 }
    guard escapes == 0 || String(validating: path, as: UTF8.self) != nil else { return nil }
    let length = prefix.count + path.count + 2 * escapes + (isDirectory ? 1 : 0)
    return String(unsafeUninitializedCapacity: length) { text in
        var count = text.initialize(fromContentsOf: prefix)
        if escapes == 0 {
            UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(text)[count...])
                .copyMemory(from: path)
        } else {
            for byte in path {
                if isUnescaped(byte, isFirst: isFirst) {
                    text[count] = byte
                    count += 1
                } else {
                    text[count] = UInt8(ascii: "%")
                    text[count + 1] = hexadecimalDigit(byte >> 4)
                    text[count + 2] = hexadecimalDigit(byte & 15)
                    count += 3
                }
            }
        }
        if isDirectory { text[length - 1] = slash }
        return length
    }
}

/// Whether Foundation leaves a byte of a path unescaped.
@inline(__always)
private func isUnescaped(_ byte: UInt8, isFirst: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: ":"): !isFirst
    // Letters and `@`; digits and the signs between `&` and `;`, such as a slash and a colon.
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "@")...UInt8(ascii: "Z"),
        UInt8(ascii: "&")...UInt8(ascii: ";"), UInt8(ascii: "!"), UInt8(ascii: "$"),
        UInt8(ascii: "="), UInt8(ascii: "_"), UInt8(ascii: "~"):
        true
    default: false
    }
}

private func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
}

private let slash = UInt8(ascii: "/")
#endif
