#if !canImport(Darwin)
import Foundation
import SystemCalls
import SystemPackage

/// An enumerator of the items below a directory, each directory before its entries.
///
/// Symbolic links are never followed.
final class ItemEnumerator: FileManager.DirectoryEnumerator {
    private let root: URL
    private let options: FileManager.DirectoryEnumerationOptions
    private let skipsHidden: Bool
    private let handler: ((URL, any Error) -> Bool)?
    /// The directories on the way down, with the entries still to visit.
    private var levels: [DirectoryListing] = []
    /// The directory to read next, unless its descendants are skipped.
    private var next: EnumeratedDirectory?
    /// Why the URL of the root leads to no directory, until it was reported.
    private var rootError: (any Error)?
    private var isStopped = false
    private var lastLevel = 0

    init(
        _ root: URL, _ options: FileManager.DirectoryEnumerationOptions,
        _ handler: ((URL, any Error) -> Bool)?
    ) {
        self.root = root
        self.options = options
        skipsHidden = options.contains(.skipsHiddenFiles)
        self.handler = handler
        do {
            let isRelative = options.contains(.producesRelativePathURLs)
            next = try EnumeratedDirectory(root, isRelative: isRelative)
        } catch {
            rootError = error
        }
    }

    /// The depth of the item returned last; 1 for the entries of the root directory.
    override var level: Int { lastLevel }

    /// Always nil, as in Foundation for enumerators of URLs: read values from the URL.
    override var fileAttributes: [FileAttributeKey: Any]? { nil }

    /// Always nil, as ``fileAttributes``.
    override var directoryAttributes: [FileAttributeKey: Any]? { nil }

    override func skipDescendants() {
        if lastLevel > 0 { next = nil }
    }

    override func nextObject() -> Any? {
        if let error = rootError {
            rootError = nil
            report(error, at: root)
        }
        if let directory = next {
            next = nil
            do {
                levels.append(try DirectoryListing(directory))
            } catch {
                report(error, at: directory.url)
            }
        }
        while !isStopped, let listing = levels.last {
            do {
                guard let item = try listing.next(skippingHidden: skipsHidden) else {
                    levels.removeLast()
                    continue
                }
                lastLevel = levels.count
                if item.isDirectory && isEntered(item) { next = listing.lastDirectory(item) }
                return item.url
            } catch {
                report(error, at: listing.directory.url)
            }
        }
        return nil
    }

    /// Calls the handler. Without one the enumeration continues, as Foundation's does.
    private func report(_ error: any Error, at url: URL) {
        if let handler { isStopped = !handler(url, error) }
    }

    private func isEntered(_ item: ListedItem) -> Bool {
        guard !options.contains(.skipsSubdirectoryDescendants) else { return false }
        return !options.contains(.skipsPackageDescendants) || !item.isPackage
    }
}

struct ListedItem {
    let url: URL
    /// Whether it is a directory. A symbolic link never is.
    let isDirectory: Bool

    /// Whether Apple's systems show the directory as one document.
    var isPackage: Bool {
        isDirectory && packageExtensions.contains(url.pathExtension.lowercased())
    }
}

/// The entries of a directory, read at once, whatever bytes their names contain.
final class DirectoryListing {
    let directory: EnumeratedDirectory
    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32768, alignment: 8)
    private var count = 0
    private var records: DirectoryRecords
    private var lastName = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Reads a directory: `getdents64(2)`. A symbolic link is not followed.
    ///
    /// - Throws: `CocoaError` when the directory cannot be opened or read.
    init(_ directory: EnumeratedDirectory) throws {
        self.directory = directory
        records = DirectoryRecords(UnsafeRawBufferPointer(buffer))
        do {
            try directory.path.withUnsafeBytes { path in
                try withItem(at: path.assumingMemoryBound(to: CChar.self)) { try read($0) }
            }
        } catch {
            throw CocoaError(error, directory.url, .reading)
        }
        records = DirectoryRecords(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }

    deinit { buffer.deallocate() }

    /// Returns the next entry, in the filesystem's order; nil at the end.
    ///
    /// - Throws: `CocoaError.fileReadInvalidFileName` for an entry whose name is not UTF-8. The
    ///   next call continues with the entry after it.
    func next(skippingHidden skipsHidden: Bool) throws -> ListedItem? {
        while let record = records.next() {
            let isHidden = record.name[0] == CChar(bitPattern: UInt8(ascii: "."))
            if skipsHidden && isHidden { continue }
            lastName = UnsafeRawBufferPointer(start: record.name, count: record.nameLength)
            let isDirectory = record.kind.map { $0 == .directory } ?? isDirectory(lastName)
            guard let url = directory.url(of: lastName, isDirectory: isDirectory) else {
                let path = FilePath(bytes: directory.path(of: lastName))
                throw CocoaError(FileError(notUTF8: path), directory.url, .reading)
            }
            return ListedItem(url: url, isDirectory: isDirectory)
        }
        return nil
    }

    /// Returns the directory that ``next(skippingHidden:)`` returned last.
    func lastDirectory(_ item: ListedItem) -> EnumeratedDirectory {
        EnumeratedDirectory(lastName, item.url, in: directory)
    }

    /// Reads the kind, which not every filesystem reports with the name; false for an item that is
    /// gone.
    private func isDirectory(_ name: UnsafeRawBufferPointer) -> Bool {
        let path = FilePath(bytes: directory.path(of: name))
        return (try? path.withoutFollowing.fileStatus().kind) == .directory
    }

    private func read(_ target: CallTarget) throws(Errno) {
        let open = OwnedDescriptor(try openFile(target, flags: [.readOnly, .directory]))
        defer { withExtendedLifetime(open) {} }
        while true {
            // A record takes at most 280 bytes.
            if buffer.count - count < 4096 { grow() }
            let space = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let added = try readDirectory(open.descriptor, into: space)
            if added == 0 { return }
            count += added
        }
    }

    private func grow() {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: 2 * buffer.count, alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
        buffer.deallocate()
        buffer = larger
    }
}

/// A directory to list, and what the URLs of its entries begin with.
struct EnumeratedDirectory {
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
    init(_ name: UnsafeRawBufferPointer, _ url: URL, in parent: EnumeratedDirectory) {
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
    fileprivate func listedPath() throws -> FilePath {
        if scheme == nil && !isFileURL {
            guard !path.isEmpty else { throw FileError.emptyPath }
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
    guard path.allSatisfy({ isUnescaped($0, isFirst: isFirst) }) else {
        guard String(validating: path, as: UTF8.self) != nil else { return nil }
        let escaped = Percent.text(of: path) { isUnescaped($0, isFirst: isFirst) }
        return String(decoding: prefix, as: UTF8.self) + escaped + (isDirectory ? "/" : "")
    }
    let length = prefix.count + path.count + (isDirectory ? 1 : 0)
    return String(unsafeUninitializedCapacity: length) { text in
        let count = text.initialize(fromContentsOf: prefix)
        UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(text)[count...])
            .copyMemory(from: path)
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

private let slash = UInt8(ascii: "/")
#endif
