import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// A file whose presence in a directory excludes the directory's contents from backups.
public struct TagFile: Sendable {
    /// The marker that stands for the tag file in options.
    public let marker: Marker
    /// The name of the tag file.
    public let name: FilePath
    /// The bytes that the file must begin with; nil when its presence is enough.
    let signature: [UInt8]?
    /// Whether the tag file itself is backed up, although the directory's other contents are not.
    public let isKept: Bool

    /// `CACHEDIR.TAG`, as defined by the Cache Directory Tagging Specification: a regular file that
    /// begins with the signature.
    package static let cacheDirectory = TagFile(
        marker: .cachedir, name: "CACHEDIR.TAG",
        signature: Array("Signature: 8a477f597d28d172789f06886806bc55".utf8), isKept: true)

    /// `.nobackup`, with any content.
    package static let noBackup = TagFile(
        marker: .nobackup, name: ".nobackup", signature: nil, isKept: false)

    static let all = [cacheDirectory, noBackup]

    /// Whether the tag file is present in a directory.
    ///
    /// - Throws: the errno of opening the directory, or of checking or reading the file.
    package func isPresent(in directory: borrowing some FileLocation & ~Copyable) throws(Errno)
        -> Bool
    {
        do throws(Errno) {
            let opened = OwnedDescriptor(
                try openFile(directory, flags: [.reference, .directory, .noFollow]))
            let file = DirectoryEntryLocation(directory: opened.descriptor, name: name)
            return try hasSignature(file, try file.status())
        } catch .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels {
            return false
        }
    }

    /// Returns the tag file's own status and marks.
    ///
    /// - Throws: `FileError`: `noSuchFile` when the file does not exist, or the error of the call
    ///   that failed.
    package func look(
        in directory: borrowing some FileLocation & ~Copyable, _ reader: MarkReader
    ) throws(FileError) -> (FileStatus, ItemMarks) {
        let path = directory.pathForMessages?.pushing(name)
        let opened: OwnedDescriptor
        do throws(Errno) {
            opened = OwnedDescriptor(
                try openFile(directory, flags: [.reference, .directory, .noFollow]))
        } catch {
            throw .opening(error, path)
        }
        let file = DirectoryEntryLocation(
            directory: opened.descriptor, name: name, pathForMessages: path)
        let status = try file.fileStatus()
        return (status, try reader.marks(of: file, kind: status.kind, status: status))
    }

    private func hasSignature(
        _ file: DirectoryEntryLocation, _ status: FileStatus
    ) throws(Errno) -> Bool {
        guard let signature else { return true }
        guard status.kind == .regularFile, status.size >= signature.count else { return false }
        let opened = OwnedDescriptor(
            try openPreservingAccessTime(
                file, flags: [.readOnly, .noFollow, .nonBlocking, .noTerminal]))
        guard try opened.descriptor.status().kind == .regularFile else { return false }
        let start = UnsafeMutableRawBufferPointer.allocate(
            byteCount: signature.count, alignment: 1)
        defer { start.deallocate() }
        let count = try readFile(opened.descriptor, at: 0, into: start)
        return count == signature.count && start.elementsEqual(signature)
    }
}
