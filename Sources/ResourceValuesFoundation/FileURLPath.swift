#if !canImport(Darwin)
import Foundation
import SystemCalls
import SystemPackage

extension URL {
    /// Calls `body` with the file's path as NUL-terminated bytes, with percent escapes decoded and
    /// without a trailing slash.
    ///
    /// Foundation's own conversion to a path fails for names that are not UTF-8; this one supports
    /// them.
    ///
    /// - Throws: ``FileError``, or what `body` throws.
    func withFilePath<Result>(
        _ body: (UnsafeBufferPointer<CChar>) throws -> Result
    ) throws -> Result {
        var text = relativeString
        if !text.withUTF8(hasFileScheme) {
            guard isFileURL else { throw FileError.foreignURL }
            text = absoluteString
        }
        return try withPath(ofFileURL: text, body)
    }

    func filePath() throws -> FilePath {
        try withFilePath { path in
            // The buffer ends with a NUL, so it is never empty.
            FilePath(platformString: path.baseAddress.unsafelyUnwrapped)
        }
    }
}

private func withPath<Result>(
    ofFileURL text: String, _ body: (UnsafeBufferPointer<CChar>) throws -> Result
) throws -> Result {
    var text = text
    return try text.withUTF8 { bytes in
        let escaped = try escapedPath(bytes)
        return try withUnsafeTemporaryAllocation(of: CChar.self, capacity: escaped.count + 1) {
            let count = try unescape(escaped, into: $0)
            return try body(UnsafeBufferPointer(rebasing: $0[...count]))
        }
    }
}

private let fileScheme: StaticString = "file:"

/// Whether a URL begins with the scheme, in letters of either case.
private func hasFileScheme(_ url: UnsafeBufferPointer<UInt8>) -> Bool {
    guard url.count >= fileScheme.utf8CodeUnitCount else { return false }
    return (0..<fileScheme.utf8CodeUnitCount).allSatisfy { index in
        url[index] | 0x20 == fileScheme.utf8Start[index] | 0x20
    }
}

/// Returns the part of a file URL between its authority and its query or fragment.
private func escapedPath(
    _ url: UnsafeBufferPointer<UInt8>
) throws(FileError) -> Slice<UnsafeBufferPointer<UInt8>> {
    var rest = url.dropFirst(fileScheme.utf8CodeUnitCount)
    if rest.starts(with: "//".utf8) {
        rest = rest.dropFirst(2)
        let host = rest.prefix { $0 != slash }
        guard host.isEmpty || String(decoding: host, as: UTF8.self).lowercased() == "localhost"
        else { throw .foreignURL }
        rest = rest[host.endIndex...]
    }
    let path = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard let first = path.first else { throw .emptyPath }
    guard first == slash else { throw .impossiblePath }
    return path
}

/// Decodes percent escapes and terminates the path with a NUL.
///
/// - Returns: the path's length, without the NUL.
private func unescape(
    _ escaped: Slice<UnsafeBufferPointer<UInt8>>, into path: UnsafeMutableBufferPointer<CChar>
) throws(FileError) -> Int {
    var count = 0
    var index = escaped.startIndex
    while index < escaped.endIndex {
        var byte = escaped[index]
        index += 1
        if byte == UInt8(ascii: "%") {
            guard index + 1 < escaped.endIndex, let high = Percent.hexadecimal(escaped[index]),
                let low = Percent.hexadecimal(escaped[index + 1])
            else { throw .impossiblePath }
            byte = high << 4 | low
            guard byte != 0 && byte != slash else { throw .impossiblePath }
            index += 2
        }
        path[count] = CChar(bitPattern: byte)
        count += 1
    }
    while count > 1 && path[count - 1] == CChar(bitPattern: slash) { count -= 1 }
    path[count] = 0
    return count
}

extension URL {
    /// Creates the URL of a file from a path in text, as the methods of `FileManager` take it. A
    /// relative path starts in the working directory, whatever bytes its path contains. What is read of a
    /// path that ends with a slash is read of the directory that it leads to, also through a link.
    ///
    /// - Throws: `CocoaError` for an empty path, with the code of a missing item.
    package init(atPath path: String, _ access: FileAccess = .writing) throws {
        guard !path.isEmpty else { throw CocoaError(FileError.emptyPath, nil, access) }
        var bytes = Array(path.utf8)
        if bytes.first != slash {
            do throws(Errno) {
                bytes = try workingDirectory().bytes + [slash] + bytes
            } catch {
                throw CocoaError(FileError(error, of: FilePath(path)), nil, access)
            }
        }
        if access == .reading, bytes.last == slash { bytes.append(UInt8(ascii: ".")) }
        // Always valid, since every other byte is escaped.
        let text = "file://" + Percent.text(of: bytes, keeping: "-._~/")
        self = URL(string: text) ?? URL(fileURLWithPath: path)
    }

    /// Creates a file URL from a path.
    ///
    /// - Returns: nil when the path is relative, and when it is not UTF-8: Foundation answers `""`
    ///   for the path and the last component of such a URL, and what is appended to these, or
    ///   removed there, is another item.
    init?(bytesOf path: FilePath, isDirectory: Bool) {
        guard path.isAbsolute, let text = path.text else { return nil }
        self.init(filePath: text, directoryHint: isDirectory ? .isDirectory : .notDirectory)
    }
}

extension FilePath {
    /// The path as text; nil when it is not UTF-8.
    var text: String? {
        withPlatformString { String(validatingCString: $0) }
    }
}

private let slash = UInt8(ascii: "/")
#endif
