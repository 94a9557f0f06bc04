#if !canImport(Darwin)
import Foundation
import SystemCalls
import SystemPackage

/// The entries of a directory, read at once, whatever bytes their names contain.
struct DirectoryListing {
    let directory: ListedDirectory
    private let contents: DirectoryContents
    private var records: DirectoryRecords

    /// Reads a directory: `getdents64(2)`. A symbolic link is not followed.
    ///
    /// - Throws: `CocoaError` when the directory cannot be opened or read.
    init(_ directory: ListedDirectory) throws {
        self.directory = directory
        do {
            contents = try directory.path.withUnsafeBytes { path in
                try withItem(at: path.assumingMemoryBound(to: CChar.self)) { target in
                    try DirectoryContents(target)
                }
            }
        } catch {
            throw CocoaError(error, directory.url, .reading)
        }
        records = DirectoryRecords(contents.bytes)
    }

    /// Returns the next entry, in the filesystem's order; nil at the end.
    ///
    /// - Throws: `CocoaError.fileReadInvalidFileName` for an entry whose name is not UTF-8. The
    ///   next call continues with the entry after it.
    mutating func next(skippingHidden skipsHidden: Bool) throws -> ListedItem? {
        // The records point into the contents.
        defer { withExtendedLifetime(contents) {} }
        while let record = records.next() {
            let isHidden = record.name[0] == CChar(bitPattern: UInt8(ascii: "."))
            if skipsHidden && isHidden { continue }
            let name = UnsafeRawBufferPointer(start: record.name, count: record.nameLength)
            let isDirectory = record.kind.map { $0 == .directory } ?? isDirectory(name)
            guard let item = directory.item(name, isDirectory: isDirectory) else {
                let path = FilePath(bytes: directory.path(of: name))
                throw CocoaError(FileError(notUTF8: path), directory.url, .reading)
            }
            return item
        }
        return nil
    }

    /// Reads the kind, which not every filesystem reports with the name; false for an item that is
    /// gone.
    private func isDirectory(_ name: UnsafeRawBufferPointer) -> Bool {
        let path = FilePath(bytes: directory.path(of: name))
        return (try? path.withoutFollowing.fileStatus().kind) == .directory
    }
}

/// The records of all entries of a directory.
private final class DirectoryContents {
    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32768, alignment: 8)
    private var count = 0

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

    init(_ directory: CallTarget) throws(Errno) {
        let open = OwnedDescriptor(try openFile(directory, flags: [.readOnly, .directory]))
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

    deinit { buffer.deallocate() }

    private func grow() {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: 2 * buffer.count, alignment: 8)
        larger.copyMemory(from: bytes)
        buffer.deallocate()
        buffer = larger
    }
}
#endif
