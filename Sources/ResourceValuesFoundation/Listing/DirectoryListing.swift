#if !canImport(Darwin)
import Foundation
import SystemCalls
import SystemPackage

/// An entry of a directory.
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
    let directory: ListedDirectory
    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32768, alignment: 8)
    private var count = 0
    private var records: DirectoryRecords
    private var lastName = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Reads a directory: `getdents64(2)`. A symbolic link is not followed.
    ///
    /// - Throws: `CocoaError` when the directory cannot be opened or read.
    init(_ directory: ListedDirectory) throws {
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
    func lastDirectory(_ item: ListedItem) -> ListedDirectory {
        ListedDirectory(lastName, item.url, in: directory)
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
#endif
