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
        for key in ResourceKey.storedKeys {
            guard let value = try resourceValue(for: key) else { continue }
            if let change = MarkChange(key, to: value) { changes.append(change) }
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

/// Copies all `user.*` attributes, including the marks, and the ACLs.
///
/// Attributes of other programs that the target's filesystem cannot store are not copied. What this
/// package stores, marks and the records of evicted files, is never dropped: without it the copy
/// would be backed up, deleted or read in another way.
///
/// - Parameter isKept: whether attributes that the target already has are kept.
/// - Throws: ``FileError`` of the first attribute that could not be read or stored;
///   `unsupportedFilesystem` names all of this package.
func copyUserAttributes(
    from source: NamedDescriptor, to target: NamedDescriptor,
    keepingPresent isKept: Bool = false
) throws(FileError) {
    let names = try attributeNames(of: source)
    for name in names where isCopied(name) {
        guard let value = try source.extendedAttribute(named: name) else { continue }
        do throws(FileError) {
            try target.setExtendedAttribute(
                named: name, to: value, if: isKept ? .absent : .none)
        } catch {
            if isKept && error.code == .attributeExists { continue }
            let isUnstorable = error.code == .unsupportedFilesystem || error.code == .tooLarge
            if isUnstorable && isOfOtherProgram(name) { continue }
            throw error.code == .unsupportedFilesystem ? error.naming(names) : error
        }
    }
}

/// Whether an attribute is a `user.*` attribute that this package does not store.
private func isOfOtherProgram(_ name: ExtendedAttributeName) -> Bool {
    name.bytes.starts(with: "user.".utf8) && !isOwn(name)
}

private func isOwn(_ name: ExtendedAttributeName) -> Bool {
    name.bytes.starts(with: attributePrefix.utf8)
}

extension FileError {
    /// Returns the error with the names of this package among an item's attributes in its message.
    fileprivate func naming(_ names: [ExtendedAttributeName]) -> FileError {
        let own = names.filter(isOwn).map { "\($0)" }.sorted()
        guard !own.isEmpty else { return self }
        var error = self
        error.message += ", and the copy would lose \(own.joined(separator: ", "))"
        return error
    }
}

private func attributeNames(
    of file: NamedDescriptor
) throws(FileError) -> [ExtendedAttributeName] {
    do throws(FileError) {
        return try file.extendedAttributeNames()
    } catch {
        if error.code == .unsupportedFilesystem { return [] }
        throw error
    }
}

private func isCopied(_ name: ExtendedAttributeName) -> Bool {
    let bytes = name.bytes
    return bytes.starts(with: "user.".utf8)
        || bytes.elementsEqual("system.posix_acl_access".utf8)
        || bytes.elementsEqual("system.posix_acl_default".utf8)
}

/// Returns the permission bits for a copy: set-ID bits only if owner and group are the same.
func copiedPermissions(_ status: FileStatus, of copy: FileDescriptor) throws(Errno) -> UInt16 {
    let copied = try copy.status()
    let isSameOwner = copied.owner == status.owner && copied.group == status.group
    return isSameOwner ? status.permissions : status.permissions & ~0o6000
}

extension FileDescriptor {
    /// Gives an otherwise complete copy the mode and the times of the original.
    func finishCopy(of status: FileStatus) throws(Errno) {
        try changeMode(copiedPermissions(status, of: self), of: self)
        try setTimes(
            access: status.contentAccessTime, modification: status.contentModificationTime)
    }
}
