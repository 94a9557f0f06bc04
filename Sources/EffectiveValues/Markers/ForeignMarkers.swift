import ResourceValues
import StoragePolicy
import SystemPackage

extension ForeignAttribute {
    /// Whether the item has one of these attributes, whatever its value.
    ///
    /// - Parameters:
    ///   - names: the names of the item's attributes; nil when they could not be listed.
    ///   - location: the item.
    static func hasOne(
        of attributes: [ExtendedAttributeName], among names: [[UInt8]]?,
        at location: borrowing some FileLocation & ~Copyable
    ) throws(Errno) -> Bool {
        if let names { return attributes.contains { names.contains($0.bytes) } }
        for attribute in attributes where try value(of: attribute, at: location) != nil {
            return true
        }
        return false
    }

    /// What the XDG attribute says.
    enum XDGValue {
        case included, excluded
        /// Nothing, by a value that is neither `true` nor `false`.
        case meaningless([UInt8])
    }

    /// Returns what the XDG attribute says; nil when it is missing.
    static func xdgValue(
        among names: [[UInt8]]?, of location: borrowing some FileLocation & ~Copyable
    ) throws(Errno) -> XDGValue? {
        if let names, !names.contains(xdg.bytes) { return nil }
        guard var bytes = try value(of: xdg, at: location) else { return nil }
        // A value written by hand or by a C program may end with a newline or a NUL.
        if bytes.last == UInt8(ascii: "\n") || bytes.last == 0 { bytes.removeLast() }
        if bytes.elementsEqual("true".utf8) { return .included }
        if bytes.elementsEqual("false".utf8) { return .excluded }
        return .meaningless(bytes)
    }

    private static func value(
        of attribute: ExtendedAttributeName, at location: borrowing some FileLocation & ~Copyable
    ) throws(Errno) -> [UInt8]? {
        do throws(FileError) {
            return try location.extendedAttribute(named: attribute)
        } catch  where error.code == .noSuchFile || error.code == .unsupportedFilesystem {
            return nil
        } catch {
            throw error.errno ?? .ioError
        }
    }
}

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

    /// Whether the tag file in a directory has the signature; nil if there is no such file.
    ///
    /// - Throws: the errno of opening the directory, or of checking or reading the file.
    package func isValid(
        in directory: borrowing some FileLocation & ~Copyable
    ) throws(Errno) -> Bool? {
        try ifPresent { () throws(Errno) in
            let opened = OwnedDescriptor(
                try openFile(directory, flags: [.reference, .directory, .noFollow]))
            let file = DirectoryEntryLocation(directory: opened.descriptor, name: name)
            return try hasSignature(file, try file.status())
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
        let opened = try calls(on: path, FileError.opening) { () throws(Errno) in
            OwnedDescriptor(
                try openFile(directory, flags: [.reference, .directory, .noFollow]))
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
        return try readFile(opened.descriptor, at: 0, count: signature.count) == signature
    }
}
