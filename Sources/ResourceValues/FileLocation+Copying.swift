import SystemCalls
import SystemPackage

extension FileLocation where Self: ~Copyable {
    /// Copies this item's marks to another item, all or none. Marks that are unset on this item are
    /// left unchanged on the other.
    ///
    /// - Returns: the number of marks copied.
    /// - Throws: ``FileError``: `malformedValue` and others for a mark of this item that cannot be
    ///   read, and as ``apply(_:)`` for the other item.
    public func copyMarks(
        to target: borrowing some FileLocation & ~Copyable
    ) throws(FileError) -> Int {
        var changes: [MarkChange] = []
        if let value = try value(for: .isExcludedFromBackup) {
            changes.append(MarkChange(.isExcludedFromBackup, to: value))
        }
        if let value = try value(for: .isPurgeable) {
            changes.append(MarkChange(.isPurgeable, to: value))
        }
        if let value = try value(for: .fileProtection) {
            changes.append(MarkChange(.fileProtection, to: value))
        }
        try target.apply(changes)
        return changes.count
    }
}

extension FilePath {
    /// Copies all extended attributes of this regular file or directory to another, except those
    /// that xattr.conf(5) skips: `attr_copy_fd(3)`.
    ///
    /// - Throws: ``FileError`` for a file that cannot be opened for reading, or for the first
    ///   attribute that could not be stored; the others are copied then.
    public func copyExtendedAttributes(to target: FilePath) throws(FileError) {
        let input = try openToCopy(self)
        defer { closeIgnoringErrors(input) }
        let output = try openToCopy(target)
        // Attributes are stored when the call returns: closing the file cannot lose them.
        defer { closeIgnoringErrors(output) }
        do throws(Errno) {
            try copyAttributes(from: input, self, to: output, target)
        } catch {
            throw output.named(target).storingError(error)
        }
    }
}

private func openToCopy(_ path: FilePath) throws(FileError) -> FileDescriptor {
    do throws(Errno) {
        return try openForReading(path)
    } catch {
        throw .opening(error, path)
    }
}
